// SPDX-License-Identifier: GPL-3.0-or-later
// The page for repeated measurements of the document: what to measure, the progress, and the results.
#pragma once

#include "ui/views/benchmark/benchmark_model.h"
#include "ui/views/common/input_view.h"
#include "ui/views/common/table_painting.h"

#include <optional>

class QBoxLayout;
class QComboBox;
class QLabel;
class QProgressBar;
class QPushButton;
class QScrollArea;
class QSpinBox;
class QTableWidget;
class QToolButton;

namespace spanscope::ui {

class BenchmarkPlot;

class BenchmarkView : public InputView {
  Q_OBJECT
 public:
  explicit BenchmarkView(QWidget* parent = nullptr);

  QString csv() const override;
  void paintTo(QPainter& painter, const QSize& size) override;

  const BenchmarkModel& model() const { return m_model; }
  BenchmarkWish wish() const;
  void setWish(const BenchmarkWish& wish);
  /// Copies the table to the clipboard as text.
  void copy() const;

 protected:
  void refresh() override;
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  QWidget* makeControls();
  QWidget* makeResults();
  void arrange();
  void fillTable();
  void runOrStop();
  PaintedTable painted() const;
  QString remarkText() const;

  BenchmarkModel m_model;
  std::optional<Theme> m_shown;  ///< the theme of the widgets' present content
  QComboBox* m_kind = nullptr;
  QSpinBox* m_repeats = nullptr;
  QPushButton* m_run = nullptr;
  QToolButton* m_copy = nullptr;
  QLabel* m_doing = nullptr;
  QProgressBar* m_progress = nullptr;
  QScrollArea* m_scroll = nullptr;
  QLabel* m_setup = nullptr;
  QLabel* m_remarks = nullptr;
  QTableWidget* m_table = nullptr;
  BenchmarkPlot* m_plot = nullptr;
  QBoxLayout* m_results = nullptr;  ///< texts and table, with the plot below or beside them
};

}  // namespace spanscope::ui
