// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/document/autosave.h"
#include "ui/window/window_parts.h"

#include <QObject>
#include <QTimer>

#include <cstdint>
#include <memory>
#include <set>

class QLockFile;

namespace spanscope::ui {

class DocumentController;

/// Keeps what outlives the window: the tabs that were open, and changes that were not saved.
class SessionKeeper : public QObject {
  Q_OBJECT
 public:
  SessionKeeper(const WindowParts& parts, DocumentController& documents);
  ~SessionKeeper() override;

  /// Opens the documents that were open when the window was last closed.
  void restore();
  /// Offers unsaved documents that an earlier run of the program left behind.
  void offerDocuments();
  /// Asks about unsaved changes. Returns false if the window should stay.
  bool settleUnsaved();
  /// Writes the open documents down for the next start, with unsaved changes that should be kept.
  void keepAtEnd();

 private:
  /// Asks, and saves what the user chooses. Returns false if the window should stay.
  bool saveUnsaved();
  /// Writes the list of open documents to the settings. If `atEnd`, unsaved changes that should be kept are
  /// written to side files.
  void keepTabs(bool atEnd);
  /// Whether the tabs of this window are kept. Only the first of several running windows keeps its tabs.
  bool ownsSession();
  /// Opens a recovered document. If `isModified` is false, it was kept because it has no file, not because of
  /// changes.
  void openRecovered(const Recovery& recovery, bool isModified);

  QMainWindow& m_window;
  QSettings& m_settings;
  Workspace& m_workspace;
  CanvasPlaces& m_places;
  PageArea& m_pages;
  const QString& m_autosaveDirectory;
  DocumentController& m_documents;
  std::set<std::uint32_t> m_dropped;  ///< tabs whose unsaved changes will not be kept
  std::unique_ptr<QLockFile> m_sessionLock;
  QTimer m_keepTabs;
};

}  // namespace spanscope::ui
