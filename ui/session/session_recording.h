// SPDX-License-Identifier: GPL-3.0-or-later
// Writes the events of sessions into trace files while the user records. Also finds the recordings of
// programs that were killed.
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

/// The recording of a program that was killed.
struct CutRecording {
  QString path;  ///< the intended name of the file
  QString part;  ///< the file that contains the events
  QString sideFile;
};

/// Records sessions. One trace file contains one session. The first session is written to the file that the
/// user named ("a.trace"). Each later session is written to its own file in the same folder ("a-2.trace"). A
/// later session begins after a change of the model, or with a run on a server. Until a trace file is
/// complete, a side file in `sideDirectory` has the place of its events. Any thread may call any function.
class SessionRecording {
 public:
  SessionRecording() = default;
  ~SessionRecording();  ///< completes all files
  SessionRecording(const SessionRecording&) = delete;
  SessionRecording& operator=(const SessionRecording&) = delete;

  /// Begins to record. The first file is opened now, so that an invalid path is refused now. `session` is the
  /// open session. Null: the file waits for the first session. Returns the problem, or an empty text. An
  /// earlier recording is finished first.
  QString start(const QString& path, const QString& sideDirectory,
                const std::shared_ptr<trace::Recorder>& session);
  /// Adds a session before its first event. Does nothing if nothing is recorded.
  void add(const std::shared_ptr<trace::Recorder>& session);
  /// Completes the file of a session that has ended.
  void end(const std::shared_ptr<trace::Recorder>& session);
  /// Completes all files. Returns the first problem, or an empty text. A file without a session is removed.
  QString finish();
  /// Passes the recorded events to the operating system, so that the events outlive the program. Returns
  /// whether all files can still be written.
  bool flush();

  bool isOn() const;
  QString path() const;          ///< the path that the user named; empty: nothing is recorded
  QStringList files() const;     ///< the files that are being written
  std::size_t sessions() const;  ///< number of recorded sessions since start()

 private:
  struct File {
    std::shared_ptr<trace::Recorder> session;  ///< null: the file waits for a session
    std::optional<OutputFile> waiting;         ///< the open file while there is no session
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
  QString m_problem;  ///< the first problem of a session since start()
  std::vector<File> m_files;
};

/// Finds the recordings of killed programs. Leaves out recordings of running programs.
std::vector<CutRecording> findCutRecordings(const QString& sideDirectory);
/// Gives the recording its intended name, or a similar name if the intended name is in use ("a-2.trace").
/// Returns the new path. If the folder of the recording cannot be written, returns CutRecording::part.
/// Returns an empty text if nothing was recorded or the file was deleted.
QString keepCutRecording(const CutRecording& cut);

}  // namespace spanscope::ui
