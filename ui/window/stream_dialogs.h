// SPDX-License-Identifier: GPL-3.0-or-later
// The dialogs that begin a watch of a server, and a gateway.
#pragma once

#include "engine/remote/gateway/gateway.h"
#include "engine/remote/watch/watch.h"
#include "engine/workbench/servers/server_list.h"
#include "ui/theme/theme.h"

#include <QDialog>
#include <QString>

class QCheckBox;
class QComboBox;
class QLabel;
class QLineEdit;
class QPushButton;
class QSettings;
class QSpinBox;

namespace spanscope::ui {

/// The user's choices for a watch.
struct WatchChoice {
  QString url;     ///< address, or the name of a server of the list; empty: only events
  QString events;  ///< endpoints of KV events, separated by spaces; empty: none
  QString replay;  ///< endpoints of replays in the same order
  QString model;   ///< folder or file of the server's model; empty: no texts
  QString file;    ///< the trace file to record to; empty: none
  bool operator==(const WatchChoice&) const = default;

  /// Returns what keep() kept.
  static WatchChoice last(const QSettings& settings);
  /// Keeps the choice for the next dialog, without the file.
  void keep(QSettings& settings) const;
  /// The name of the server, its host and port, or its first endpoint.
  QString title() const;
};

/// Makes the configuration of a watch. Reads the tokenizer and the key of a server of the list. Throws
/// Failure.
watch::WatchConfig watchConfigOf(const WatchChoice& choice, const workbench::ServerList& servers);

/// A dialog with the choices of a watch.
class WatchDialog : public QDialog {
  Q_OBJECT
 public:
  WatchDialog(const WatchChoice& choice, const workbench::ServerList& servers, const QString& folder,
              QWidget* parent = nullptr);

  WatchChoice choice() const;
  /// Shows why a watch cannot begin.
  void complain(const QString& problem, const Theme& theme);

 Q_SIGNALS:
  /// The user wants to begin.
  void wanted();

 private:
  void showChoice();

  QComboBox* m_url;
  QLineEdit* m_events;
  QLineEdit* m_replay;
  QLineEdit* m_model;
  QLineEdit* m_file;
  QLabel* m_problem;
  QPushButton* m_watch;
};

/// The user's choices for a gateway.
struct GatewayChoice {
  QString url;                ///< addresses, or names of servers of the list, separated by spaces
  int port = kPort;           ///< on the loopback interface; 0: any free port
  QString model;              ///< folder or file with the tokenizer of the server; empty: the bundled model
  QString file;               ///< the trace file to record to; empty: none
  bool hasOrderNote = false;  ///< gateway::UpstreamConfig::hasOrderNote of every server
  bool operator==(const GatewayChoice&) const = default;

  static constexpr int kPort = 8001;

  /// Returns what keep() kept.
  static GatewayChoice last(const QSettings& settings);
  /// Keeps the choice for the next dialog, without the file.
  void keep(QSettings& settings) const;
};

/// Makes the configuration of a gateway. Reads the tokenizer and the keys of servers of the list. Throws
/// Failure.
gateway::GatewayConfig gatewayConfigOf(const GatewayChoice& choice, const workbench::ServerList& servers);

/// A dialog with the choices of a gateway.
class GatewayDialog : public QDialog {
  Q_OBJECT
 public:
  GatewayDialog(const GatewayChoice& choice, const workbench::ServerList& servers, const QString& folder,
                QWidget* parent = nullptr);

  GatewayChoice choice() const;
  /// Shows why a gateway cannot begin.
  void complain(const QString& problem, const Theme& theme);

 Q_SIGNALS:
  /// The user wants to begin.
  void wanted();

 private:
  QComboBox* m_url;
  QSpinBox* m_port;
  QLineEdit* m_model;
  QLineEdit* m_file;
  QCheckBox* m_hasOrderNote;
  QLabel* m_problem;
};

}  // namespace spanscope::ui
