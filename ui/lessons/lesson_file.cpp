// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/lessons/lesson_file.h"

#include "engine/lesson/check.h"

#include <QFileInfo>

#include <filesystem>
#include <iterator>
#include <utility>

namespace spanscope::ui {

QString LessonFile::key() const {
  const QFileInfo file(path);
  const QFileInfo bundled(QString::fromStdString(lesson::bundledLessonDirectory().string()));
  return file.absolutePath() == bundled.absoluteFilePath() ? file.fileName() : file.absoluteFilePath();
}

std::shared_ptr<const LessonFile> openLesson(const QString& path) {
  const std::filesystem::path file(path.toStdString());
  const std::string text = lesson::readLessonFile(file);
  lesson::ReadLesson read = lesson::readLesson(text);
  auto opened = std::make_shared<LessonFile>(LessonFile{.path = path,
                                                        .lesson = std::move(read.lesson),
                                                        .folder = lesson::LessonFolder(file.parent_path()),
                                                        .diagnostics = {}});
  std::vector<lesson::Fault> found = lesson::checkLesson(opened->lesson, opened->folder);
  read.faults.insert(read.faults.end(), std::make_move_iterator(found.begin()),
                     std::make_move_iterator(found.end()));
  opened->diagnostics = lesson::diagnosticsOf(std::move(read.faults), text);
  return opened;
}

}  // namespace spanscope::ui
