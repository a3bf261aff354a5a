// SPDX-License-Identifier: GPL-3.0-or-later
// Notices what other programs do to the files of open documents, and says what the window tells the person
// about it.
#pragma once

#include "ui/document/document_model.h"
#include "ui/document/file_watch.h"

#include <QObject>
#include <QString>

#include <cstdint>
#include <map>
#include <vector>

namespace spanscope::ui {

/// The relation between a document and its file.
struct FileSituation {
  QString name;             ///< name of the file
  bool isModified = false;  ///< the document has unsaved changes
  bool isChanged = false;   ///< another program wrote the file since it was read or written here
  bool isGone = false;      ///< another program removed or renamed the file
  /// Other processes that have the file open and of which the person was not told yet.
  std::vector<qint64> others;
};

/// What a person can do about it.
enum class FileAnswer {
  Reload,   ///< take the content of the file; can be undone
  Compare,  ///< show what differs
  Keep,     ///< keep the document as it is, and say no more about this change
  Save,     ///< write the file again
  SaveAs,
  Dismiss,
};

/// A sentence and the answers to it. If the text is empty, there is nothing to say.
struct FileNotice {
  QString text;
  std::vector<FileAnswer> answers;
  bool operator==(const FileNotice&) const = default;
};

FileNotice noticeOf(const FileSituation& situation);
/// The text of the button for an answer.
QString answerText(FileAnswer answer);

class DocumentFiles : public QObject {
  Q_OBJECT
 public:
  /// `directory` is the folder in which processes leave messages for each other.
  explicit DocumentFiles(const QString& directory, QObject* parent = nullptr);

  /// Follows the document's file, also if the document gets another file. `read` is what the file held when
  /// it was read. The model must live until remove().
  void add(std::uint32_t id, const DocumentModel& model, FileStamp read);
  void remove(std::uint32_t id);

  /// To call when the document equals the file's present content, or the person wants to keep the document as
  /// it is.
  void accept(std::uint32_t id);
  /// To call when the document is what `read` says was read from the file. The file may hold something else
  /// by now.
  void accept(std::uint32_t id, FileStamp read);
  /// To call when the person knows who else has the file open.
  void dismiss(std::uint32_t id);
  /// Looks at the files now, because the system's messages are not reliable everywhere.
  void look();

  FileSituation situation(std::uint32_t id) const;

 Q_SIGNALS:
  void changed(std::uint32_t id);  ///< situation() has changed

 private:
  void follow(std::uint32_t id);

  struct Entry {
    const DocumentModel* model = nullptr;
    QString path;
    std::vector<qint64> reported;  ///< processes of which the person knows
  };
  FileWatch m_watch;
  FilePresence m_presence;
  std::map<std::uint32_t, Entry> m_entries;
};

}  // namespace spanscope::ui
