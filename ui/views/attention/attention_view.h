// SPDX-License-Identifier: GPL-3.0-or-later
// Heat map of attention: query blocks down, key blocks across.
#pragma once

#include "ui/views/attention/attention_model.h"
#include "ui/views/common/run_view.h"

#include <QPointer>

class QComboBox;
class QLabel;

namespace spanscope::ui {

class AttentionPlot;
class AttentionLegend;

class AttentionView : public RunView {
  Q_OBJECT
 public:
  explicit AttentionView(QWidget* parent = nullptr);

  QString csv() const override;
  void paintTo(QPainter& painter, const QSize& size) override;

  const AttentionModel& model() const { return m_model; }
  const AttentionOptions& options() const { return m_options; }
  void setOptions(const AttentionOptions& options);
  AttentionPlot& plot() { return *m_plot; }
  QString readout() const;

 protected:
  void refresh() override;
  QString emptyText() const override;

 private:
  void fillChoices();
  void showCell(int row, int column);
  void selectCell(int row, int column);
  void openCell(int row, int column);
  void showAllBlocks();

  AttentionOptions m_options;
  AttentionModel m_model;
  AttentionPlot* m_plot;
  AttentionLegend* m_legend;
  QLabel* m_readout;
  QPointer<QComboBox> m_layer;
  QPointer<QComboBox> m_head;
  bool m_filling = false;
};

}  // namespace spanscope::ui
