// SPDX-License-Identifier: GPL-3.0-or-later
// The requests of a log, with the controls of the diagnosis: files, server, tokens and prices.
#pragma once

#include "ui/session/log_diagnosis.h"
#include "ui/views/common/input_view.h"

#include <QString>
#include <QStringList>

#include <cstddef>
#include <memory>
#include <optional>

class QComboBox;
class QLabel;
class QLineEdit;
class QProgressBar;
class QPushButton;

namespace spanscope::ui {

class LogRequestsModel;
class TableView;

class LogRequestsView : public InputView {
  Q_OBJECT
 public:
  explicit LogRequestsView(QWidget* parent = nullptr);

  QString csv() const override;
  void paintTo(QPainter& painter, const QSize& size) override;

  const LogRequestsModel& model() const { return *m_model; }
  TableView& table() { return *m_table; }

 protected:
  void refresh() override;
  void paintEvent(QPaintEvent* event) override;

 private:
  QWidget* makeControls();
  /// Reports the settings of the controls.
  void sendSettings();
  void chooseTokenizer(int index);
  void showModels();
  void showRows();
  QString summary() const;

  std::shared_ptr<const LogState> m_state = std::make_shared<const LogState>();
  LogRequestsModel* m_model;
  TableView* m_table;
  QPushButton* m_open = nullptr;
  QPushButton* m_document = nullptr;
  QPushButton* m_spans = nullptr;
  QComboBox* m_server = nullptr;
  QComboBox* m_tokens = nullptr;
  QLineEdit* m_speed = nullptr;
  QLineEdit* m_price = nullptr;
  QProgressBar* m_progress = nullptr;
  QLabel* m_summary = nullptr;
  bool m_isShowing = false;            ///< the view sets controls, not the user
  std::optional<std::size_t> m_shown;  ///< the chosen request that the table shows
  QStringList m_shownFiles;            ///< the log that the table shows
};

}  // namespace spanscope::ui
