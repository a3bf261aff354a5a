// SPDX-License-Identifier: GPL-3.0-or-later
// The tabs of watched servers and of gateways. Every frame, a tab gets the events that have arrived. Open
// this file to add a command whose events arrive on other threads.
#pragma once

#include "ui/commands/command_table.h"
#include "ui/session/streamed_source.h"
#include "ui/window/window_parts.h"

#include <QObject>
#include <QString>
#include <QTimer>

#include <cstdint>
#include <memory>
#include <vector>

class QToolButton;

namespace spanscope::ui {

class GatewaySource;
struct Notice;
struct OpenDocument;

class StreamTabs : public QObject {
  Q_OBJECT
 public:
  explicit StreamTabs(const WindowParts& parts, QObject* parent = nullptr);

  /// Adds the commands that begin and end a watch or a gateway.
  void addCommands(CommandHandlers& rows);
  /// Opens a tab for a watch when the server has answered.
  void addWatch(const QString& title, std::shared_ptr<StreamedSource> source);
  /// Opens a tab for each server of a gateway.
  void addGateway(const std::vector<std::shared_ptr<GatewaySource>>& sources);
  /// Returns a notice about the current tab: the address of its gateway, or its watched server. May be empty.
  Notice notice();
  /// Puts the address of the current tab's gateway on the clipboard.
  void copyAddress();
  /// Shows the state of the current tab in the status line.
  void refresh();

 Q_SIGNALS:
  void changed();  ///< the state of the window's controls has changed
  void documentOpened(spanscope::ui::OpenDocument& document);

 private:
  struct Stream {
    std::uint32_t tab = 0;  ///< 0: the server has not answered yet
    QString title;
    std::shared_ptr<StreamedSource> source;
    bool isGateway = false;
  };

  /// Adds a command that opens a dialog, or stops the stream of the current tab if it is open.
  void addCommand(CommandHandlers& rows, const char* id, bool isGateway, const QString& start,
                  const QString& stop);
  void openWatchDialog();
  void openGatewayDialog();
  void openTab(Stream& stream, std::unique_ptr<DocumentModel> model);
  void stopCurrent();
  Stream* current();  ///< the stream of the current tab; nullptr: none
  QString address();  ///< the address of the current tab's gateway; empty: none, or the gateway has ended
  void drain();
  void show(Stream& stream);
  void showNewest(OpenDocument& document);

  const WindowParts m_parts;
  QToolButton* m_state;  ///< in the status line; hidden unless the current tab has an open stream
  std::vector<Stream> m_streams;
  QTimer m_frame;
};

}  // namespace spanscope::ui
