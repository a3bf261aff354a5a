// SPDX-License-Identifier: GPL-3.0-or-later
// Writes the events of sessions into trace files while the user records, and finds the files of a
// program that was killed meanwhile.
#pragma once

#include "engine/base/output_file.h"
#include "engine/trace/recorder.h"

#include <QLockFile>
#include <QString>
#include <QStringList>

#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace spanscope::ui {

/// A recording that a program left behind when it was killed.
struct CutRecording {
  QString path;  ///< the name that the file should have had
  QString part;  ///< where its events are
  QString sideFile;
};

/// One trace file holds one session. The first session goes into the file that the user named ("a.trace");
/// each later one, as after a change of the model, and each run on a server goes into a file of its own
/// beside it ("a-2.trace"). Beside each file, a side file in `sideDirectory` says where the events are until
/// the file is complete. Any thread may call any function.
class SessionRecording {
 public:
  SessionRecording() = default;
  ~SessionRecording();  ///< completes all files
  SessionRecording(const SessionRecording&) = delete;
  SessionRecording& operator=(const SessionRecording&) = delete;

  /// Begins to record. The first file is opened now, so that a path that cannot be written is refused now.
  /// `session`: the session that is open; null: the file waits for the first one.
  /// Returns what is wrong, or an empty text. A recording that was on is finished before.
  QString start(const QString& path, const QString& sideDirectory,
                const std::shared_ptr<trace::Recorder>& session);
  /// Takes a further session in, before its first event; does nothing while nothing is recorded.
  void add(const std::shared_ptr<trace::Recorder>& session);
  /// Completes the file of a session that has ended.
  void end(const std::shared_ptr<trace::Recorder>& session);
  /// Completes all files. Returns what went wrong with one of them, or an empty text. A file without a
  /// session is removed.
  QString finish();
  /// Hands what was recorded to the system, so that it outlives the program. Returns whether all files can
  /// still be written.
  bool flush();

  bool isOn() const;
  QString path() const;          ///< that the user named; empty: nothing is recorded
  QStringList files() const;     ///< that are being written now
  std::size_t sessions() const;  ///< that were recorded since start()

 private:
  struct File {
    std::shared_ptr<trace::Recorder> session;  ///< null: the file waits for one
    std::optional<OutputFile> waiting;         ///< until then
    CutRecording place;
    std::unique_ptr<QLockFile> lock;
  };

  QString open(const std::filesystem::path& path);
  void give(File& file, const std::shared_ptr<trace::Recorder>& session);
  void close(File& file);
  void note(const QString& problem);

  mutable std::mutex m_mutex;
  QString m_path;
  QString m_sideDirectory;
  std::size_t m_sessions = 0;
  QString m_problem;  ///< the first that a session had since start()
  std::vector<File> m_files;
};

/// Finds what earlier programs left behind; leaves out what a running program still records.
std::vector<CutRecording> findCutRecordings(const QString& sideDirectory);
/// Gives the events their name; where a file has it, a similar one ("a-2.trace"). Returns where they are
/// then: the part itself if its folder cannot be written. Returns an empty text if nothing was recorded or
/// the file is gone.
QString keepCutRecording(const CutRecording& cut);

}  // namespace spanscope::ui
