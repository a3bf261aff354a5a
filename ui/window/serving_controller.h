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

/// Serves other programs. Shows their requests in a panel, and the state of the server in the status line.
class ServingController : public QObject {
  Q_OBJECT
 public:
  explicit ServingController(const WindowParts& parts);

  /// Adds the commands of serving.
  void addCommands(CommandHandlers& rows);
  /// The panel, hidden at first. The widget that shows the panel owns it.
  RequestsPanel& panel() { return *m_requests; }
  void setTheme(const Theme& theme);
  /// Shows the current state of the server and its requests.
  void refresh();

 Q_SIGNALS:
  void commandWanted(const QString& command);
  void changed();  ///< the state of the window's controls has changed
  /// A request is shown as a document. Also sent if the request was shown before.
  void documentShown(spanscope::ui::OpenDocument& document);
  void closeWanted(spanscope::ui::OpenDocument& document);

 private:
  /// Starts or stops the server.
  void toggleServing();
  /// Shows a client's request as a preview document.
  void showRequest(std::uint64_t number);
  /// Shows a client's request as a document that the user keeps.
  void keepRequest(std::uint64_t number);

  QSettings& m_settings;
  Workspace& m_workspace;
  PageArea& m_pages;
  StatusLine& m_status;
  RequestsPanel* m_requests;
  QToolButton* m_servingState;  ///< in the status line; hidden while nothing is served
};

}  // namespace spanscope::ui
