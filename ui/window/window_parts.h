// SPDX-License-Identifier: GPL-3.0-or-later
// What the roles of the window (documents, lessons, serving, recording) share.
#pragma once

#include "engine/query/diagnostic.h"

#include <QString>

#include <vector>

class QMainWindow;
class QSettings;
class QWidget;

namespace spanscope::ui {

class Canvas;
class CanvasPlaces;
class DockHost;
class PageArea;
class StatusLine;
class Workspace;

/// The parts of the window that a role may need; each role keeps those that it uses. All outlive the roles.
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

/// Asks where to save. `filters`: as in QFileDialog; a name without an ending gets the one of the chosen
/// filter before the dialog asks whether to replace a file. Returns an empty text if the user cancels.
QString chosenSavePath(QWidget* parent, const QString& title, const QString& proposed,
                       const QString& filters);
/// The problems of a file as text, one in a line.
QString diagnosticsText(const std::vector<query::Diagnostic>& diagnostics, const QString& file);

}  // namespace spanscope::ui
