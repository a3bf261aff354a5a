// SPDX-License-Identifier: GPL-3.0-or-later
// A lesson that is being recorded, in a side file, so that it outlives the program. A side file is one object
// of JSON ({"recording": 1, …}); a lock file lies beside it for as long as the program that writes it lives.
#pragma once

#include "engine/lesson/recording.h"

#include <QByteArray>
#include <QDateTime>
#include <QString>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

class QLockFile;

namespace spanscope::ui {

/// A query of the recorded lesson, with the name of the file that it is to have beside the lesson.
struct RecordedQuery {
  std::string name;
  document::Document document;
};

/// All that is kept of a recording.
struct SavedRecording {
  lesson::Head head{};
  std::string model{};
  std::vector<lesson::Assignment> settings{};
  std::vector<lesson::RecordedStep> steps{};  ///< at least one
  std::size_t step = 0;                       ///< in view
  std::vector<RecordedQuery> queries{};
  /// What each run ran, in their order; never null.
  std::vector<std::shared_ptr<const document::Document>> ran{};
  std::shared_ptr<const document::Document> document{};  ///< in view; never null
  QString title{};                                       ///< of its tab
  QString beside{};      ///< its file, beside which its relative names are looked up; empty: none
  std::string layout{};  ///< of the docks: "explain"
};

QByteArray writeRecording(const SavedRecording& recording);
/// The text is untrusted; nothing where it is no whole recording.
std::optional<SavedRecording> readRecording(const QByteArray& text);

class RecordingFile {
 public:
  explicit RecordingFile(QString directory);
  ~RecordingFile();

  /// Returns whether it was written.
  bool write(const QByteArray& recording);
  /// Removes it: the lesson was saved, or thrown away.
  void discard();

  /// What another program, or this one at its last end, has left behind, the newest first.
  struct Found {
    QString path;
    QDateTime time;  ///< of its last change
    QByteArray text;
  };
  static std::vector<Found> found(const QString& directory);

 private:
  QString m_directory;
  QString m_path;
  std::unique_ptr<QLockFile> m_lock;
};

}  // namespace spanscope::ui
