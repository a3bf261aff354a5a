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

/// Stores open tabs and unsaved changes for the next start of the program.
class SessionKeeper : public QObject {
  Q_OBJECT
 public:
  SessionKeeper(const WindowParts& parts, DocumentController& documents);
  ~SessionKeeper() override;

  /// Opens the documents that were open when the window was last closed.
  void restore();
  /// Offers unsaved documents from an earlier run of the program.
  void offerDocuments();
  /// Asks about unsaved changes. Returns false if the window should stay open.
  bool settleUnsaved();
  /// Stores the open documents for the next start, with unsaved changes that should be kept.
  void keepAtEnd();

 private:
  /// Asks about unsaved changes, and saves the chosen documents. Returns false if the window should stay
  /// open.
  bool saveUnsaved();
  /// Writes the list of open documents to the settings. If `atEnd`, also writes side files with unsaved
  /// changes that should be kept.
  void keepTabs(bool atEnd);
  /// Whether this window stores its tabs. Only the first of several running windows stores its tabs.
  bool ownsSession();
  /// Opens a recovered document. If `isModified` is false, the document was kept only because it has no file.
  void openRecovered(const Recovery& recovery, bool isModified);

  const WindowParts m_parts;
  DocumentController& m_documents;
  std::set<std::uint32_t> m_dropped;  ///< tabs whose unsaved changes the user discards
  std::unique_ptr<QLockFile> m_sessionLock;
  QTimer m_keepTabs;
};

}  // namespace spanscope::ui
