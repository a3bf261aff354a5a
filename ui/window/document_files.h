// SPDX-License-Identifier: GPL-3.0-or-later
// What happens to the files of open documents outside of this window, and what the window says about it.
#pragma once

#include "ui/document/document_model.h"
#include "ui/document/file_presence.h"
#include "ui/document/file_watch.h"

#include <QObject>
#include <QString>

#include <cstdint>
#include <map>
#include <vector>

namespace spanscope::ui {

/// How a document and its file stand to each other.
struct FileSituation {
  QString name;                ///< of the file
  bool isModified = false;     ///< the document has changes that are not saved
  bool isChanged = false;      ///< another program wrote the file since it was read or written here
  bool isGone = false;         ///< or removed or renamed it
  std::vector<qint64> others;  ///< processes that have it open too, and that the person was not told of yet
};

/// What a person can do about it.
enum class FileAnswer {
  Reload,   ///< take what the file holds; can be undone
  Compare,  ///< see what differs
  Keep,     ///< leave what is here as it is, and say no more of that change
  Save,     ///< write the file anew
  SaveAs,
  Dismiss,
};

/// A sentence and its answers; without a text there is nothing to say.
struct FileNotice {
  QString text;
  std::vector<FileAnswer> answers;
  bool operator==(const FileNotice&) const = default;
};

FileNotice noticeOf(const FileSituation& situation);
/// What the button says.
QString answerText(FileAnswer answer);

class DocumentFiles : public QObject {
  Q_OBJECT
 public:
  /// `directory`: where processes leave word for each other.
  explicit DocumentFiles(const QString& directory, QObject* parent = nullptr);

  /// Follows the document's file, also to another name. `read` is what the file held as it was read; the
  /// model must outlive remove().
  void add(std::uint32_t id, const document::DocumentModel& model, document::FileStamp read);
  void remove(std::uint32_t id);

  /// The document is what the file holds now, or is to be kept as it is.
  void accept(std::uint32_t id);
  /// The document is this, which was read from the file; it may hold something else by now.
  void accept(std::uint32_t id, document::FileStamp read);
  /// The person knows who else has the file open.
  void dismiss(std::uint32_t id);
  /// Looks at the files, where no message of the system can be relied on.
  void look();

  FileSituation situation(std::uint32_t id) const;

 Q_SIGNALS:
  void changed(std::uint32_t id);  ///< the situation has

 private:
  void follow(std::uint32_t id);

  struct Entry {
    const document::DocumentModel* model = nullptr;
    QString path;
    std::vector<qint64> told;  ///< of whom the person knows
  };
  document::FileWatch m_watch;
  document::FilePresence m_presence;
  std::map<std::uint32_t, Entry> m_entries;
};

}  // namespace spanscope::ui
