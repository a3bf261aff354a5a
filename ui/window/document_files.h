// SPDX-License-Identifier: GPL-3.0-or-later
// Detects changes that other programs make to the files of open documents. Writes the notices for the user.
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
  QString name;                ///< name of the file
  bool isModified = false;     ///< the document has unsaved changes
  bool isChanged = false;      ///< another program wrote the file since it was read or written here
  bool isGone = false;         ///< another program removed or renamed the file
  std::vector<qint64> others;  ///< other processes with the file open, without those that the user knows
};

/// An answer to a notice.
enum class FileAnswer {
  Reload,   ///< take the content of the file; can be undone
  Compare,  ///< show what differs
  Keep,     ///< keep the document unchanged, and report this change no more
  Save,     ///< write the file again
  SaveAs,
  Dismiss,
};

/// A sentence and the possible answers. Empty text: there is no notice.
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

  /// Watches the document's file, also after the document gets another file. `read`: the state of the file
  /// when it was read. The model must live until remove().
  void add(std::uint32_t id, const DocumentModel& model, FileStamp read);
  void remove(std::uint32_t id);

  /// Call this function when the document equals the file's current content, or the user keeps the document
  /// as it is.
  void accept(std::uint32_t id);
  /// Call this function when the document has the content that `read` describes. The file may have changed
  /// since.
  void accept(std::uint32_t id, FileStamp read);
  /// Call this function when the user knows which other processes have the file open.
  void dismiss(std::uint32_t id);
  /// Checks the files now, because notifications of the system are not reliable everywhere.
  void look();

  FileSituation situation(std::uint32_t id) const;

 Q_SIGNALS:
  void changed(std::uint32_t id);  ///< situation() has changed

 private:
  void follow(std::uint32_t id);

  struct Entry {
    const DocumentModel* model = nullptr;
    QString path;
    std::vector<qint64> reported;  ///< processes that the user knows
  };
  FileWatch m_watch;
  FilePresence m_presence;
  std::map<std::uint32_t, Entry> m_entries;
};

}  // namespace spanscope::ui
