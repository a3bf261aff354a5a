// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/remote/hub/hub_client.h"
#include "engine/remote/hub/hub_download.h"
#include "engine/workbench/finder/model_finder.h"
#include "ui/session/task_thread.h"
#include "ui/theme/theme.h"

#include <QDialog>
#include <QElapsedTimer>
#include <QString>
#include <QTimer>

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

class QCheckBox;
class QLabel;
class QLineEdit;
class QProgressBar;
class QPushButton;
class QTreeWidget;

namespace spanscope::ui {

/// A window in which the user downloads a model of a hub. A separate thread connects to the hub and writes
/// the files. The dialog does not block the main window. After the user closes the dialog, a download
/// continues until the dialog object ends.
class GetModelDialog : public QDialog {
  Q_OBJECT
 public:
  /// The device on which models will run.
  struct ForDevice {
    QString name;
    std::uint64_t memory = 0;  ///< bytes; 0: not known
  };

  GetModelDialog(ForDevice device, const Theme& theme, QWidget* parent = nullptr,
                 workbench::VariableReader environment = workbench::processEnvironment());
  ~GetModelDialog() override;

  /// Whether the dialog waits for the hub.
  bool isBusy() const { return m_isBusy; }

 Q_SIGNALS:
  /// A download begins.
  void began();
  /// The files of a model are complete. `path` is the folder or the GGUF file to open.
  void got(const QString& path);
  /// The dialog has stopped waiting for the hub.
  void ended();

 private:
  void list();
  void showModels();
  void get();
  void stop();
  void showProgress();
  void showButtons();
  void say(const QString& text, bool isProblem);
  /// Calls `act` on the thread. Then calls `done` on the window's thread with the error; empty: no error.
  void waitFor(std::function<void(const std::stop_token& stop)> act,
               std::function<void(const QString& problem)> done);
  /// Shows the fields for a token.
  void showToken(bool isShown);

  const ForDevice m_device;
  const Theme m_theme;
  const workbench::VariableReader m_environment;
  QLineEdit* m_name;
  QPushButton* m_list;
  QLabel* m_tokenLabel;
  QLineEdit* m_token;
  QCheckBox* m_keepsToken;
  QTreeWidget* m_models;
  QLabel* m_said;
  QProgressBar* m_bar;
  QPushButton* m_get;
  QPushButton* m_stopButton;
  bool m_isBusy = false;
  bool m_isGetting = false;
  std::string m_file;  ///< the file or format in the name; empty: the recommended model
  remote::HubPlace m_place;
  remote::HubListing m_listing;  ///< without a commit: nothing is listed
  std::vector<remote::HubModel> m_shown;
  std::mutex m_mutex;
  std::optional<remote::HubProgress> m_progress;  ///< written by the thread
  std::uint64_t m_firstBytes = 0;                 ///< at the start of the download
  QElapsedTimer m_elapsed;
  QTimer m_frame;
  std::stop_source m_stop;
  TaskThread m_thread;  ///< ends before the other members
};

}  // namespace spanscope::ui
