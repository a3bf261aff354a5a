// SPDX-License-Identifier: GPL-3.0-or-later
// An open document: its current value, its undo histories and its file.
#pragma once

#include "engine/workbench/document/document.h"

#include <QObject>
#include <QString>
#include <QUndoStack>

#include <functional>
#include <memory>

namespace spanscope::ui {

class DocumentModel : public QObject {
  Q_OBJECT
 public:
  explicit DocumentModel(document::Document document = {}, QObject* parent = nullptr);
  ~DocumentModel() override;

  const document::Document& document() const { return *m_document; }
  /// The same value as a shared object, for views that keep the value.
  std::shared_ptr<const document::Document> snapshot() const { return m_document; }

  /// The only way to change the document. `change` edits a copy. If the copy differs, the copy becomes the
  /// document, and this function pushes undo commands:
  /// - for the query and its layout, a command with this name;
  /// - for settings, a command whose text names the settings and their values.
  /// Consecutive changes with the same non-empty merge key become one command. A call of endMerge(), or
  /// another change of the same history, ends the merging.
  /// Returns whether anything changed. Refuses every change, and returns false, while changed() notifies of
  /// an undo or redo.
  bool change(const QString& name, const std::function<void(document::Document&)>& change,
              const QString& mergeKey = {});
  void endMerge();

  /// The changes of everything except the settings. Undo and redo leave the settings as they are.
  QUndoStack& undoStack() { return m_undo; }
  /// The changes of the settings. Undo and redo leave everything else as it is.
  QUndoStack& settingsUndoStack() { return m_settingsUndo; }

  QString filePath() const { return m_filePath; }  ///< empty: never saved
  void setFilePath(const QString& path);
  QString title() const;                ///< file name, or "Untitled"
  void setTitle(const QString& title);  ///< for a document without a file
  bool isModified() const;              ///< the document differs from the last saved state
  void markSaved();
  /// Call this function when the file has other contents. The document then counts as modified until it is
  /// saved.
  void markUnsaved();

 Q_SIGNALS:
  void changed();       ///< the document has another value
  void stateChanged();  ///< title, path or isModified() has changed

 private:
  friend class ChangeCommand;
  friend class SettingsCommand;
  void replay(std::shared_ptr<const document::Document> document);

  std::shared_ptr<const document::Document> m_document;
  QUndoStack m_undo;
  QUndoStack m_settingsUndo;
  QString m_filePath;
  QString m_title;
  int m_mergeSerial = 0;
  bool m_replaying = false;  ///< changed() is notifying of an undo or redo
};

}  // namespace spanscope::ui
