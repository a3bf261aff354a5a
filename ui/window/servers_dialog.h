// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/remote/chat/server_facts.h"
#include "engine/workbench/servers/server_list.h"
#include "ui/session/task_thread.h"
#include "ui/theme/theme.h"

#include <QDialog>
#include <QString>

#include <functional>
#include <map>
#include <optional>
#include <stop_token>
#include <string>

class QCheckBox;
class QComboBox;
class QFormLayout;
class QLabel;
class QLineEdit;
class QListWidget;
class QPushButton;
class QSpinBox;

namespace spanscope::ui {

/// A dialog in which the user adds, tests and removes named servers. A separate thread connects to servers
/// and to the desktop's secret store.
class ServersDialog : public QDialog {
  Q_OBJECT
 public:
  /// `servers` must outlive the dialog. `facts`: known facts about servers, by name. `shown`: the name of the
  /// server to show; empty: the first server.
  ServersDialog(workbench::ServerList& servers, std::map<std::string, remote::ServerFacts> facts,
                const std::string& shown, const Theme& theme, QWidget* parent = nullptr);
  ~ServersDialog() override;

  /// Whether the dialog waits for a server or the secret store.
  bool isWaiting() const { return m_waiting > 0; }
  /// The stored name of the shown server; empty: a new server that was not saved yet.
  std::string shown() const { return m_kept ? m_kept->name : std::string(); }

 Q_SIGNALS:
  /// A server of the list has reported its facts.
  void answered(const std::string& name, const spanscope::remote::ServerFacts& facts);
  /// The list has changed.
  void changed();
  /// The dialog has stopped waiting for an answer.
  void ended();

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  /// Makes the dialog as high as its texts at this width. A layout of wrapped texts does not set this height.
  void fitHeight();
  void fillList();
  void showServer(const std::string& name);
  void showFacts();
  void showFields();
  void showProtocol();
  void say(const QString& text, bool isProblem);
  workbench::NamedServer typed() const;
  /// Shows `said` and calls `act` on the thread. Then calls `done` on the window's thread with the error;
  /// empty: no error.
  void waitFor(const QString& said, std::function<void(const std::stop_token&)> act,
               std::function<void(const QString& problem)> done);
  void keep();
  /// Tests the connection with the typed values. Saves nothing.
  void ask();
  void remove();
  /// The facts about the shown server. The last test of the typed values comes first, then the known facts.
  /// nullptr: not known.
  const remote::ServerFacts* shownFacts() const;

  workbench::ServerList& m_servers;
  std::map<std::string, remote::ServerFacts> m_facts;
  const Theme m_theme;
  std::optional<workbench::NamedServer> m_kept;  ///< the shown server as stored in the list
  std::string m_testedUrl;                       ///< address of the last test that succeeded
  std::optional<remote::ServerFacts> m_tested;  ///< result of this test; nothing: no test of the shown server
  bool m_hasFailed = false;                     ///< the last test of the shown server failed
  QListWidget* m_list;
  QFormLayout* m_form;
  QLineEdit* m_name;
  QLineEdit* m_url;
  QComboBox* m_model;
  QCheckBox* m_isUnlisted;
  QComboBox* m_protocol;
  QLabel* m_protocolHelp;
  QComboBox* m_place;
  QLineEdit* m_variable;
  QLineEdit* m_key;
  QLineEdit* m_certificates;
  QSpinBox* m_atOnce;
  QCheckBox* m_orders;
  QCheckBox* m_hasOrderNote;
  QLabel* m_said;
  QLabel* m_can;
  QPushButton* m_keep;
  QPushButton* m_ask;
  QPushButton* m_remove;
  int m_waiting = 0;
  std::stop_source m_stop;
  TaskThread m_thread;  ///< ends before the other members
};

/// The facts that a server reported, one per line: "vLLM 0.33.0", the models, and what the server reports
/// about runs.
QString serverFactsText(const remote::ServerFacts& facts);

}  // namespace spanscope::ui
