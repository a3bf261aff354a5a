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

/// Keeps documents and their files together: saves, autosaves and reloads them, and asks the user where
/// saving or closing would lose something.
class DocumentSaver : public QObject {
  Q_OBJECT
 public:
  explicit DocumentSaver(const WindowParts& parts);
  ~DocumentSaver() override;

  /// Autosaves the document and watches its file. `read` is what the file held when it was read.
  void watch(OpenDocument& document, FileStamp read);
  void forget(const OpenDocument& document);
  Autosave* autosave(const OpenDocument& document) const;  ///< nullptr: it is not watched
  void discardAutosaves();
  DocumentFiles& files() { return m_files; }

  bool save(OpenDocument& document, bool askForPath);
  /// Asks about JSON text that is no query. Returns false if the document cannot be saved or exported now.
  bool settleTyped(OpenDocument& document, const QString& title);
  /// Says on opening which parts of the file the document does not hold.
  void noteUnread(OpenDocument& document, const OpenedFile& file);
  bool mayClose(OpenDocument& document);
  /// What the user wants of the file of the current document that another program has written or removed.
  void answer(FileAnswer answer);

 Q_SIGNALS:
  void commandWanted(const QString& command);
  void changed();  ///< what the window shows of itself
  void fileUsed(const QString& path);

 private:
  /// Where to save: at `path`, or elsewhere if the user wants to keep what saving there would remove.
  /// Empty: nowhere.
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
  std::map<std::uint32_t, std::unique_ptr<Autosave>>
      m_autosaves;  ///< by tab; they are destroyed before their models
  DocumentFiles m_files;
};

}  // namespace spanscope::ui
