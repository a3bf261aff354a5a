// SPDX-License-Identifier: GPL-3.0-or-later
// The page for repeated measurements of the document: what to measure, the progress, and the results.
#pragma once

#include "ui/views/benchmark/benchmark_model.h"
#include "ui/views/common/measure_page.h"
#include "ui/views/common/table_painting.h"

class QBoxLayout;
class QComboBox;
class QSpinBox;

namespace spanscope::ui {

class BenchmarkPlot;

class BenchmarkView : public MeasurePage {
  Q_OBJECT
 public:
  explicit BenchmarkView(QWidget* parent = nullptr);

  QString csv() const override;
  void paintTo(QPainter& painter, const QSize& size) override;

  const BenchmarkModel& model() const { return m_model; }
  BenchmarkWish wish() const;
  void setWish(const BenchmarkWish& wish);

 protected:
  void refresh() override;
  void resizeEvent(QResizeEvent* event) override;
  QString introduction() const override;
  QString text() const override;
  QString command() const override;

 private:
  void makeChoices();
  QWidget* makeResults();
  void arrange();
  PaintedTable painted() const;

  BenchmarkModel m_model;
  QComboBox* m_kind = nullptr;
  QSpinBox* m_repeats = nullptr;
  BenchmarkPlot* m_plot = nullptr;
  QBoxLayout* m_results = nullptr;  ///< texts and table, with the plot below or beside them
};

}  // namespace spanscope::ui
