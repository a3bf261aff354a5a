// SPDX-License-Identifier: GPL-3.0-or-later
// Shows the log as a table.
#pragma once

#include "ui/views/common/input_view.h"
#include "ui/views/log/log_model.h"

#include <QPointer>

class QCheckBox;
class QComboBox;

namespace spanscope::ui {

class TableView;

class LogView : public RunView {
  Q_OBJECT
 public:
  explicit LogView(QWidget* parent = nullptr);

  QString csv() const override;
  void paintTo(QPainter& painter, const QSize& size) override;

  const LogModel& model() const { return *m_model; }
  TableView& table() { return *m_table; }
  void setOptions(const LogOptions& options);

 protected:
  void refresh() override;
  QString emptyText() const override;

 private:
  void showCounts();
  void select(int row);
  void open(int row);

  LogModel* m_model;
  TableView* m_table;
  QPointer<QComboBox> m_least;
  QPointer<QCheckBox> m_all;
};

}  // namespace spanscope::ui
