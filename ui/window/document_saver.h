// SPDX-License-Identifier: GPL-3.0-or-later
// Saves documents, and detects changes that other programs make to their files.
#pragma once

#include "ui/document/autosave.h"
#include "ui/document/document_file.h"
#include "ui/document/document_model.h"
#include "ui/document/file_watch.h"
#include "ui/window/window_parts.h"

#include <QObject>
#include <QString>

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

namespace spanscope::ui {

struct PolicyChange;

/// The relation between a document and its file.
struct FileSituation {
  QString name;                ///< name of the file
  bool isModified = false;     ///< the document has unsaved changes
  bool isChanged = false;      ///< another program wrote the file since it was read or written here
  bool isGone = false;         ///< another program removed or renamed the file
  std::vector<qint64> others;  ///< other processes with the file open, without those that the user knows
};

/// An answer to a notice about a file, the reuse policy, or a gateway.
enum class NoticeAnswer {
  Reload,   ///< take the content of the file; can be undone
  Compare,  ///< show what differs
  Keep,     ///< keep the document unchanged, and do not report this change again
  Save,     ///< write the file again
  SaveAs,
  Dismiss,
  RestorePolicy,  ///< take the policy from before the choice of the model
  KeepPolicy,
  CopyAddress,  ///< put the address of the gateway on the clipboard
};

/// A sentence and the possible answers. Empty text: there is no notice.
struct Notice {
  QString text;
  std::vector<NoticeAnswer> answers;
  bool operator==(const Notice&) const = default;
};

Notice noticeOf(const FileSituation& situation);
/// Reports that the choice of a model changed the policy.
Notice noticeOf(const PolicyChange& change);
/// The text of the button for an answer.
QString answerText(NoticeAnswer answer);

/// Detects changes that other programs make to the files of open documents.
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

struct OpenDocument;

/// Saves, autosaves and reloads documents. Asks the user before saving or closing discards data.
class DocumentSaver : public QObject {
  Q_OBJECT
 public:
  explicit DocumentSaver(const WindowParts& parts);
  ~DocumentSaver() override;

  /// Autosaves the document and watches its file. `read`: the state of the file when it was read.
  void watch(OpenDocument& document, FileStamp read);
  void forget(const OpenDocument& document);
  Autosave* autosave(const OpenDocument& document) const;  ///< nullptr: the document is not watched
  void discardAutosaves();
  DocumentFiles& files() { return m_files; }

  bool save(OpenDocument& document, bool askForPath);
  /// Asks about JSON text that is not a query. Returns false if the document cannot be saved or exported now.
  bool settleTyped(OpenDocument& document, const QString& title);
  /// Reports which parts of an opened file are not in the document.
  void noteUnread(OpenDocument& document, const OpenedFile& file);
  bool mayClose(OpenDocument& document);
  /// Carries out the user's answer to a notice about the file of the current document.
  void answer(NoticeAnswer answer);

 Q_SIGNALS:
  void commandWanted(const QString& command);
  void changed();  ///< titles, tabs or commands of the window may have changed
  void fileUsed(const QString& path);

 private:
  /// The path to save to: `path`, or another path if the user keeps parts that saving would remove. Empty: do
  /// not save.
  QString pathWithoutLoss(OpenDocument& document, const QString& path);
  /// Asks whether to overwrite a file that another program has written.
  enum class SaveOver { Yes, SaveAs, No };
  SaveOver maySaveOver(OpenDocument& document);
  void reload(OpenDocument& document);
  void compareWithFile(const OpenDocument& document);

  const WindowParts m_parts;
  std::map<std::uint32_t, std::unique_ptr<Autosave>> m_autosaves;  ///< by tab; destroyed before their models
  DocumentFiles m_files;
};

}  // namespace spanscope::ui
