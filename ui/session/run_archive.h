// SPDX-License-Identifier: GPL-3.0-or-later
// Runs that stay when the program ends: of each a trace file with its events and a small file with what it
// was made with and came to, so that a list of them needs no events.
#pragma once

#include "ui/session/run_record.h"
#include "ui/session/task_thread.h"

#include <QByteArray>
#include <QObject>
#include <QString>

#include <cstdint>
#include <optional>
#include <vector>

namespace spanscope::ui {

/// The events of one run, as a trace that begins with the state of its session then.
std::vector<trace::Event> runPart(const TraceStore& trace, RunId run);

/// What the small file holds: everything of the record but its events.
QByteArray recordText(const RunRecord& record);
/// Nothing where it is none, or one of another version of the program.
std::optional<RunRecord> readRecord(const QByteArray& text);

/// The largest numbers that were given to runs and requests.
struct RunNumbers {
  RunId run = 0;
  RequestId request = 0;
  bool operator==(const RunNumbers&) const = default;
};

class RunArchive : public QObject {
  Q_OBJECT
 public:
  /// Of all files together; the oldest runs go first.
  static constexpr std::uint64_t kMostBytes = 512ULL << 20;

  explicit RunArchive(QString folder, std::uint64_t mostBytes = kMostBytes, QObject* parent = nullptr);
  ~RunArchive() override;  ///< waits for what is being written

  /// Takes numbers for a run and so many requests: those after what this returns, which are larger than
  /// `last` and which no other program that keeps its runs here has. Waits for another program that is just
  /// taking some, at most a second; where none can be taken, it returns `last`.
  RunNumbers reserve(const RunNumbers& last, std::uint32_t requests);
  /// The runs that are kept, the oldest first, without their traces. Of two with one number, the newer.
  std::vector<RunRecord> load() const;
  /// Writes a run that has ended and whose trace is there, on a thread of its own.
  void save(const RunRecord& record);
  /// Removes every run that is kept.
  void clear();
  /// Waits until everything so far is written.
  void flush();

 Q_SIGNALS:
  void saved(spanscope::RunId run, const QString& file);
  void failed(const QString& problem);

 private:
  void write(const RunRecord& record, const std::vector<trace::Event>& events);
  void bound() const;

  QString m_folder;
  std::uint64_t m_mostBytes;
  TaskThread m_thread;  ///< ends first
};

}  // namespace spanscope::ui
