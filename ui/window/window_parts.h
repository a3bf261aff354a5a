// SPDX-License-Identifier: GPL-3.0-or-later
// Parts of the window that its roles (documents, lessons, serving, recording) share.
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

/// The parts of the window that a role may need. Each role keeps the parts that it uses. All parts outlive
/// the roles.
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
