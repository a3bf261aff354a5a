// SPDX-License-Identifier: GPL-3.0-or-later
// Writes a lesson recording to a side file, so that the recording outlives the program. A side file is one
// JSON object ({"recording": 1, …}). A lock file is next to the side file while the program that writes the
// recording runs.
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

/// A query of the recorded lesson, with the name of its file in the folder of the lesson.
struct RecordedQuery {
  std::string name;
  document::Document document;
};

/// The data of a recording in its side file.
struct SavedRecording {
  lesson::Head head{};
  std::string model{};
  std::vector<lesson::Assignment> settings{};
  std::vector<lesson::RecordedStep> steps{};  ///< at least one
  std::size_t step = 0;                       ///< the current step, from 0
  std::vector<RecordedQuery> queries{};
  /// The documents of the runs, in order of the runs; never null.
  std::vector<std::shared_ptr<const document::Document>> ran{};
  std::shared_ptr<const document::Document> document{};  ///< the active document; never null
  QString title{};                                       ///< the title of its tab
  QString beside{};      ///< file of the document, may be empty; relative names are in the file's folder
  std::string layout{};  ///< the layout of the docks: "explain"
};

QByteArray writeRecording(const SavedRecording& recording);
/// Reads untrusted text. Nothing: the text is not a complete recording.
std::optional<SavedRecording> readRecording(const QByteArray& text);

class RecordingFile {
 public:
  explicit RecordingFile(QString directory);
  ~RecordingFile();

  /// Writes the recording. Returns false if that failed.
  bool write(const QByteArray& recording);
  /// Removes the file, because the lesson was saved or discarded.
  void discard();

  /// A side file that an earlier program left.
  struct Found {
    QString path;
    QDateTime time;  ///< of its last change
    QByteArray text;
  };
  /// Returns the side files in a folder that no running program writes. The newest file is first.
  static std::vector<Found> found(const QString& directory);

 private:
  QString m_directory;
  QString m_path;
  std::unique_ptr<QLockFile> m_lock;
};

}  // namespace spanscope::ui
