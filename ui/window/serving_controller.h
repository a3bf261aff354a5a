// SPDX-License-Identifier: GPL-3.0-or-later
// The server for other programs, and the panel with its requests.
#pragma once

#include "ui/commands/command_table.h"
#include "ui/session/serving.h"
#include "ui/theme/theme.h"
#include "ui/window/window_parts.h"

#include <QAbstractTableModel>
#include <QObject>
#include <QString>
#include <QWidget>

#include <cstdint>
#include <memory>
#include <vector>

class QCheckBox;
class QLabel;
class QPushButton;
class QSpinBox;
class QStackedWidget;
class QToolButton;

namespace spanscope::ui {

// The requests of other programs to the window's engine: a list below the docks, with the controls of the
// server.

class TableView;

/// The requests, the newest first.
class RequestsModel : public QAbstractTableModel {
  Q_OBJECT
 public:
  enum Column { Number, Time, Path, Model, State, Prompt, Cached, Answer, kColumns };

  using QAbstractTableModel::QAbstractTableModel;

  void setState(const ServingState& state);
  const ServedEntry& entry(int row) const;
  int rowOf(std::uint64_t number) const;  ///< -1: the request is not listed

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 private:
  std::vector<ServedEntry> m_entries;  ///< the oldest first
};

/// The state as text: "Answering", "Failed: …".
QString requestStateText(const ServedEntry& entry);
/// The state of the server as text, for example "Serving spanlet at http://127.0.0.1:8000".
QString servingText(const ServingState& state);
/// A shorter text for the status bar: "Serving 127.0.0.1:8000 · 2 requests"; empty: the server is off.
QString servingStatus(const ServingState& state);

class RequestsPanel : public QWidget {
  Q_OBJECT
 public:
  explicit RequestsPanel(QWidget* parent = nullptr);

  /// `shown`: the number of the request that the current document shows; 0: none.
  void setState(const std::shared_ptr<const ServingState>& state, std::uint64_t shown);
  void setTheme(const Theme& theme);
  /// Sets the settings for the next start of the server.
  void setSettings(const ServeSettings& settings);
  ServeSettings settings() const;

  QSize sizeHint() const override;

 Q_SIGNALS:
  void switchWanted();
  void settingsChosen(const spanscope::ui::ServeSettings& settings);
  void requestWanted(quint64 number);
  void keepWanted(quint64 number);
  void closeWanted();

 private:
  void showState();
  void choose(int row);
  std::uint64_t chosen() const;  ///< 0: none
  bool canKeep() const;          ///< whether the chosen request has a query to keep

  RequestsModel* m_model;
  TableView* m_table;
  QStackedWidget* m_pages;
  QLabel* m_empty;
  QLabel* m_title;
  QLabel* m_portLabel;
  QSpinBox* m_port;
  QCheckBox* m_keepsTexts;
  QToolButton* m_copy;
  QPushButton* m_keep;
  QPushButton* m_switch;
  QToolButton* m_close;
  std::shared_ptr<const ServingState> m_state = std::make_shared<const ServingState>();
  std::uint64_t m_shown = 0;
  Theme m_theme;
};

struct OpenDocument;

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

  const WindowParts m_parts;
  RequestsPanel* m_requests;
  QToolButton* m_servingState;  ///< in the status line; hidden while nothing is served
};

}  // namespace spanscope::ui
