// SPDX-License-Identifier: GPL-3.0-or-later
// Keeps runs after the program has ended. The archive writes two files for each run: a trace file with the
// events, and a small file with settings and results. The small files alone are enough to list the runs.
#pragma once

#include "ui/session/run_history.h"
#include "ui/session/task_thread.h"

#include <QByteArray>
#include <QObject>
#include <QString>

#include <cstdint>
#include <optional>
#include <vector>

namespace spanscope::ui {

/// Returns the content of the small file: everything in the record except its events. The results of the run
/// are a small trace without blocks and single tokens.
QByteArray recordText(const RunRecord& record);
/// Returns nothing if the text is not a record, or if a later version of the program wrote it. For a record
/// of an earlier version, the results come from `traceFile`, the whole trace of the run.
std::optional<RunRecord> readRecord(const QByteArray& text, const QString& traceFile = {});

/// The largest numbers given to runs and requests so far.
struct RunNumbers {
  RunId run = 0;
  RequestId request = 0;
  bool operator==(const RunNumbers&) const = default;
};

class RunArchive : public QObject {
  Q_OBJECT
 public:
  /// Max bytes of all files together. The oldest runs are removed first.
  static constexpr std::uint64_t kMostBytes = 512ULL << 20;

  explicit RunArchive(QString folder, std::uint64_t mostBytes = kMostBytes, QObject* parent = nullptr);
  ~RunArchive() override;  ///< waits until everything is written

  /// Reserves numbers for one run and for `requests` requests. The reserved numbers follow the returned
  /// numbers and are larger than `last`. No other program that keeps its runs in this folder uses the
  /// reserved numbers. If another program is reserving numbers at the same time, the function waits for up to
  /// a second. If no numbers can be reserved, the function returns `last`.
  RunNumbers reserve(const RunNumbers& last, std::uint32_t requests);
  /// Returns the kept runs, ascending by number, without their traces. If two runs have the same number, only
  /// the newer one is included.
  std::vector<RunRecord> load() const;
  /// Writes a run on a separate thread. The run must have ended and have its trace.
  void save(const RunRecord& record);
  /// Removes every kept run.
  void clear();
  /// Waits until every save() and clear() so far is done.
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
