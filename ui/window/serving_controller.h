// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/commands/command_actions.h"
#include "ui/theme/theme.h"
#include "ui/window/window_parts.h"

#include <QObject>
#include <QString>

#include <cstdint>

class QToolButton;

namespace spanscope::ui {

struct OpenDocument;
class RequestsPanel;

/// Serves other programs, and shows what they ask: a panel of requests, and a button in the status line.
class ServingController : public QObject {
  Q_OBJECT
 public:
  explicit ServingController(const WindowParts& parts);

  /// Adds the commands of serving.
  void addCommands(CommandHandlers& rows);
  /// The panel, hidden at first; who shows it owns it.
  RequestsPanel& panel() { return *m_requests; }
  void setTheme(const Theme& theme);
  /// Shows what is served and asked now.
  void refresh();

 Q_SIGNALS:
  void commandWanted(const QString& command);
  void changed();  ///< what the window shows of itself
  /// A request is shown as a document, for the first time or again.
  void documentShown(spanscope::ui::OpenDocument& document);
  void closeWanted(spanscope::ui::OpenDocument& document);

 private:
  /// Begins to serve, or ends it.
  void toggleServing();
  /// Shows a request of a client as a document.
  void showRequest(std::uint64_t number);
  /// The same, and the document is the user's own from then on.
  void keepRequest(std::uint64_t number);

  QSettings& m_settings;
  Workspace& m_workspace;
  PageArea& m_pages;
  StatusLine& m_status;
  RequestsPanel* m_requests;
  QToolButton* m_servingState;  ///< in the status line; hidden while nothing is served
};

}  // namespace spanscope::ui
