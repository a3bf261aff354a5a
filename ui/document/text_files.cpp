// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/document/text_files.h"

#include "engine/base/problem_sentence.h"
#include "engine/query/files/file_access.h"
#include "engine/query/surroundings.h"
#include "engine/retrieve/document_text.h"
#include "ui/words/tr.h"

#include <QDir>
#include <QFileInfo>

#include <map>
#include <utility>
#include <variant>

namespace spanscope::ui {
namespace {

constexpr std::size_t kMostBytes = std::size_t{32} << 20U;  // half the max size of a document's file

/// A folder that the user allowed this program to read, by choosing the folder or a file in it.
class ChosenFolder final : public query::Surroundings {
 public:
  explicit ChosenFolder(const QString& folder) : m_files(folder.toStdString()) {}

  std::variant<std::string, query::NotGiven> readFile(const std::string& path) override {
    return m_files.read(path);
  }
  std::variant<query::FileList, query::NotGiven> listFiles(const std::string& path) override {
    return m_files.list(path);
  }
  std::variant<std::string, query::NotGiven> ask(const std::string& /*prompt*/) override {
    return query::NotGiven{.found = "a question", .expected = "a file", .hint = {}};
  }

 private:
  query::FileAccess m_files;
};

QString reasonOf(const QString& path, const query::NotGiven& reason) {
  return path + QStringLiteral(": ") + QString::fromStdString(problemSentence(reason.found, reason.expected));
}

class Reader {
  Q_DECLARE_TR_FUNCTIONS(spanscope::ui::Reader)
 public:
  explicit Reader(std::stop_token stop) : m_stop(std::move(stop)) {}

  void take(const QString& path) {
    const QFileInfo info(path);
    if (info.isDir())
      takeFolder(info);
    else
      takeFile(info);
  }

  TextFiles finish() {
    nameThem();
    if (m_read.files.empty()) {
      m_read.problem =
          m_read.leftOut.isEmpty() ? tr("The selected files have no text") : m_read.leftOut.takeFirst();
    }
    return std::move(m_read);
  }

 private:
  void takeFile(const QFileInfo& info) {
    // The user chose this file, so the program follows links.
    const QString real = info.canonicalFilePath();
    const QFileInfo there(real.isEmpty() ? info.absoluteFilePath() : real);
    ChosenFolder folder(there.absolutePath());
    add(info, info.fileName(), folder, there.absoluteFilePath().toStdString());
  }

  void takeFolder(const QFileInfo& info) {
    const QString root = info.absoluteFilePath();
    ChosenFolder folder(root);
    auto listed = folder.listFiles(root.toStdString());
    if (const auto* reason = std::get_if<query::NotGiven>(&listed)) {
      m_read.leftOut << reasonOf(info.fileName(), *reason);
      return;
    }
    for (const std::string& path : std::get<query::FileList>(listed).paths) {
      const QFileInfo file(QDir(root), QString::fromStdString(path));
      if (m_stop.stop_requested()) return;
      add(file, QDir(root).relativeFilePath(file.filePath()), folder, path);
    }
  }

  /// The text of a file; of a PDF, the texts of its pages.
  std::variant<std::string, query::NotGiven> readText(const QString& shown, query::Surroundings& files,
                                                      const std::string& path) {
    auto bytes = files.readFile(path);
    const auto* given = std::get_if<std::string>(&bytes);
    if (given == nullptr) return bytes;
    if (retrieve::formatOf(path, *given) != retrieve::DocumentFormat::Pdf)
      return query::readTextFile(files, path);
    auto read = retrieve::readUnits({}, retrieve::DocumentFormat::Pdf, *given, m_stop);
    if (auto* error = std::get_if<Error>(&read))
      return query::NotGiven{
          .found = std::move(error->found), .expected = std::move(error->expected), .hint = {}};
    const auto& document = std::get<retrieve::DocumentText>(read);
    QStringList pages;
    for (const retrieve::DocumentUnit& page : document.units)
      pages << QString::fromStdString(page.text).trimmed();
    if (!document.pagesWithoutText.empty()) {
      m_read.leftOut << tr("%1: %2 without text (scanned pages are pictures)")
                            .arg(shown,
                                 QString::fromStdString(retrieve::pagesText(document.pagesWithoutText)));
    }
    if (!document.damagedPages.empty()) {
      m_read.leftOut << tr("%1: %2 damaged (the text cannot be read)")
                            .arg(shown, QString::fromStdString(retrieve::pagesText(document.damagedPages)));
    }
    return pages.join(QStringLiteral("\n\n")).toStdString();
  }

  /// `shown`: the name of the file for the user.
  void add(const QFileInfo& info, const QString& shown, query::Surroundings& files, const std::string& path) {
    auto read = readText(shown, files, path);
    if (const auto* reason = std::get_if<query::NotGiven>(&read)) {
      m_read.leftOut << reasonOf(shown, *reason);
      return;
    }
    auto& text = std::get<std::string>(read);
    if (text.size() > kMostBytes - m_bytes) {
      m_read.leftOut
          << tr("%1: together, the files are larger than %2 MiB").arg(shown).arg(kMostBytes >> 20U);
      return;
    }
    m_bytes += text.size();
    m_read.files.push_back({.name = info.fileName().toStdString(), .text = std::move(text)});
    m_folders.push_back(QFileInfo(info.absolutePath()).fileName());
  }

  /// Adds the folder to the names of files that have the same name in several folders.
  void nameThem() {
    std::map<std::string, int> times;
    for (const TextFile& file : m_read.files) ++times[file.name];
    for (std::size_t i = 0; i < m_read.files.size(); ++i) {
      TextFile& file = m_read.files[i];
      if (times[file.name] > 1) file.name = m_folders[i].toStdString() + "/" + file.name;
    }
  }

  std::stop_token m_stop;
  TextFiles m_read;
  std::vector<QString> m_folders;  ///< of each file that was read
  std::size_t m_bytes = 0;
};

}  // namespace

TextFiles readTextFiles(const QStringList& paths, const std::stop_token& stop) {
  Reader reader(stop);
  for (const QString& path : paths) {
    if (stop.stop_requested()) break;
    reader.take(path);
  }
  return reader.finish();
}

QString leftOutText(const QStringList& leftOut) {
  constexpr qsizetype kMost = 3;
  if (leftOut.isEmpty()) return {};
  QStringList shown = leftOut.mid(0, kMost);
  if (leftOut.size() > kMost) shown << tr("%1 more").arg(leftOut.size() - kMost);
  return tr("left out: %1").arg(shown.join(QStringLiteral("; ")));
}

}  // namespace spanscope::ui
