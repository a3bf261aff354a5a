// SPDX-License-Identifier: GPL-3.0-or-later
// Parts of the window that its roles (documents, lessons, serving, recording) share.
#pragma once

#include "engine/query/diagnostic.h"
#include "ui/editor/canvas.h"

#include <QObject>
#include <QSplitter>
#include <QStackedWidget>
#include <QString>

#include <cstdint>
#include <map>
#include <vector>

class QMainWindow;
class QSettings;
class QWidget;

namespace spanscope::ui {

/// The middle of the window: the welcome page or the documents, and at their left the panel of a lesson.
class PageArea : public QSplitter {
  Q_OBJECT
 public:
  /// Shows the welcome page first. Takes ownership of both pages.
  PageArea(QWidget* welcome, QWidget* documents);

  bool isWelcome() const { return m_pages->currentIndex() == 0; }
  void showWelcome() { m_pages->setCurrentIndex(0); }
  void showDocuments() { m_pages->setCurrentIndex(1); }
  /// The two pages, without the panels at the left.
  QStackedWidget& pages() { return *m_pages; }

  /// Adds a panel at the left of the pages.
  void addPanel(QWidget& panel);
  /// Gives a panel this width in pixels. The pages get the rest of the window.
  void giveWidth(QWidget& panel, int wide);

 private:
  QStackedWidget* m_pages;
};

/// Remembers the place and zoom of the canvas for each tab. In a tab without a known place, the canvas shows
/// the whole query.
class CanvasPlaces : public QObject {
  Q_OBJECT
 public:
  explicit CanvasPlaces(Canvas& canvas) : m_canvas(canvas) {}

  /// Shows a document at the remembered place of its tab, or the whole query. 0 and nullptr: no document.
  void show(std::uint32_t tab, DocumentModel* model);
  /// Remembers the current place for the shown tab.
  void note();
  /// Forgets a closed tab.
  void forget(std::uint32_t tab);
  /// The place of a tab; nullptr: the canvas shows the whole query.
  const CanvasPlace* find(std::uint32_t tab) const;
  /// Moves the canvas to a place, and remembers the place for the shown tab.
  void put(const CanvasPlace& place);
  /// Shows the remembered place again when the docks of a new window have their sizes.
  void putAgain();

  /// Makes the canvas show the whole query once the docks have their sizes.
  void fitLater() { m_fitWanted = true; }
  /// Like fitLater(), but waits at most this time.
  void fitLater(int milliseconds);
  /// Shows the whole query if fitLater() was called.
  void fit();

 private:
  Canvas& m_canvas;
  std::uint32_t m_shown = 0;                      ///< the tab that the canvas shows now
  std::map<std::uint32_t, CanvasPlace> m_places;  ///< by tab
  bool m_fitWanted = false;
};

class DockHost;
class StatusLine;
class Workspace;

/// The parts of the window that a role may need. Each role keeps them, or those that it uses. All parts
/// outlive the roles.
struct WindowParts {
  QMainWindow& window;  ///< parent of dialogs
  QSettings& settings;
  Workspace& workspace;
  DockHost& docks;
  Canvas& canvas;
  CanvasPlaces& places;
  PageArea& pages;
  StatusLine& status;
  QString& lastFolder;               ///< where the next file dialog begins
  const QString& autosaveDirectory;  ///< the folder for unsaved work
};

/// Asks where to save. `filters`: as in QFileDialog. A name without an ending gets the ending of the chosen
/// filter. The dialog then asks whether to replace an existing file. Returns an empty text if the user
/// cancels.
QString chosenSavePath(QWidget* parent, const QString& title, const QString& proposed,
                       const QString& filters);
/// The problems of a file as text, one per line, errors first. Lists at most 8 problems.
QString diagnosticsText(const std::vector<query::Diagnostic>& diagnostics, const QString& file);

}  // namespace spanscope::ui
