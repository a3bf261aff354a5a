// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/document/text_files.h"

#include "engine/query/files/file_access.h"
#include "engine/query/surroundings.h"
#include "ui/words/tr.h"

#include <QDir>
#include <QFileInfo>

#include <map>
#include <utility>
#include <variant>

namespace spanscope::ui {
namespace {

constexpr std::size_t kMostBytes = std::size_t{32} << 20U;  // half of what a file of a document may hold

/// A folder that a person opened to this program by choosing it, or a file in it.
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
  return tr("%1: found %2, expected %3")
      .arg(path, QString::fromStdString(reason.found), QString::fromStdString(reason.expected));
}

class Reader {
  Q_DECLARE_TR_FUNCTIONS(spanscope::ui::Reader)
 public:
  /// Returns false if there is a problem.
  bool take(const QString& path) {
    const QFileInfo info(path);
    return info.isDir() ? takeFolder(info) : takeFile(info);
  }

  TextFiles finish() {
    nameThem();
    return std::move(m_read);
  }
  TextFiles fail() { return {.files = {}, .leftOut = {}, .problem = std::move(m_read.problem)}; }

 private:
  bool takeFile(const QFileInfo& info) {
    // The file itself was chosen: where a link leads is what the person wanted.
    const QString real = info.canonicalFilePath();
    const QFileInfo there(real.isEmpty() ? info.absoluteFilePath() : real);
    ChosenFolder folder(there.absolutePath());
    auto text = query::readTextFile(folder, there.absoluteFilePath().toStdString());
    if (const auto* reason = std::get_if<query::NotGiven>(&text)) {
      m_read.problem = reasonOf(info.fileName(), *reason);
      return false;
    }
    return add(info, std::get<std::string>(std::move(text)));
  }

  bool takeFolder(const QFileInfo& info) {
    const QString root = info.absoluteFilePath();
    ChosenFolder folder(root);
    auto listed = folder.listFiles(root.toStdString());
    if (const auto* reason = std::get_if<query::NotGiven>(&listed)) {
      m_read.problem = reasonOf(info.fileName(), *reason);
      return false;
    }
    for (const std::string& path : std::get<query::FileList>(listed).paths) {
      const QFileInfo file(QDir(root), QString::fromStdString(path));
      auto text = query::readTextFile(folder, path);
      if (const auto* reason = std::get_if<query::NotGiven>(&text)) {
        m_read.leftOut << reasonOf(QDir(root).relativeFilePath(file.filePath()), *reason);
        continue;
      }
      if (!add(file, std::get<std::string>(std::move(text)))) return false;
    }
    return true;
  }

  bool add(const QFileInfo& info, std::string text) {
    m_bytes += text.size();
    if (m_bytes > kMostBytes) {
      m_read.problem = tr("These files hold more than %1 MiB together").arg(kMostBytes >> 20U);
      return false;
    }
    m_read.files.push_back({.name = info.fileName().toStdString(), .text = std::move(text)});
    m_folders.push_back(QFileInfo(info.absolutePath()).fileName());
    return true;
  }

  /// Files of the same name in several folders are told apart by their folders.
  void nameThem() {
    std::map<std::string, int> times;
    for (const TextFile& file : m_read.files) ++times[file.name];
    for (std::size_t i = 0; i < m_read.files.size(); ++i) {
      TextFile& file = m_read.files[i];
      if (times[file.name] > 1) file.name = m_folders[i].toStdString() + "/" + file.name;
    }
  }

  TextFiles m_read;
  std::vector<QString> m_folders;  ///< of each file that was read
  std::size_t m_bytes = 0;
};

}  // namespace

TextFiles readTextFiles(const QStringList& paths) {
  Reader reader;
  for (const QString& path : paths) {
    if (!reader.take(path)) return reader.fail();
  }
  TextFiles read = reader.finish();
  if (read.files.empty()) read.problem = tr("There is no text in what was chosen");
  return read;
}

QString leftOutText(const QStringList& leftOut) {
  constexpr qsizetype kMost = 3;
  if (leftOut.isEmpty()) return {};
  QStringList shown = leftOut.mid(0, kMost);
  if (leftOut.size() > kMost) shown << tr("%1 more").arg(leftOut.size() - kMost);
  return tr("left out: %1").arg(shown.join(QStringLiteral("; ")));
}

}  // namespace spanscope::ui
