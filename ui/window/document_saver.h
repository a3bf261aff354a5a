// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/document/autosave.h"
#include "ui/document/document_file.h"
#include "ui/window/document_files.h"
#include "ui/window/window_parts.h"

#include <QObject>
#include <QString>

#include <cstdint>
#include <map>
#include <memory>

namespace spanscope::ui {

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
  void answer(FileAnswer answer);

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

  QMainWindow& m_window;
  Workspace& m_workspace;
  PageArea& m_pages;
  StatusLine& m_status;
  const QString& m_lastFolder;
  const QString& m_autosaveDirectory;
  std::map<std::uint32_t, std::unique_ptr<Autosave>> m_autosaves;  ///< by tab; destroyed before their models
  DocumentFiles m_files;
};

}  // namespace spanscope::ui
