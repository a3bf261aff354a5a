// SPDX-License-Identifier: GPL-3.0-or-later
// The steps of a plan as a table, and under it the planner's own words.
#pragma once

#include "ui/views/run/plan_model.h"
#include "ui/views/run/run_view.h"

#include <optional>

class QPlainTextEdit;
class QSplitter;
class QTableWidget;

namespace spanscope::ui {

class PlanView : public RunView {
  Q_OBJECT
 public:
  explicit PlanView(QWidget* parent = nullptr);

  QString csv() const override;
  void paintTo(QPainter& painter, const QSize& size) override;

  const PlanModel& model() const { return m_model; }
  QTableWidget& table() { return *m_table; }

 protected:
  void refresh() override;
  void paintEvent(QPaintEvent* event) override;

 private:
  void fill();
  void select(int row);

  PlanModel m_model;
  std::optional<Theme> m_shown;
  QSplitter* m_splitter;
  QTableWidget* m_table;
  QPlainTextEdit* m_text;
};

}  // namespace spanscope::ui
