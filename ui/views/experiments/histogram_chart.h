// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/experiment/experiment_maps.h"
#include "ui/views/experiments/cell_chart.h"

namespace spanscope::ui {

struct ExperimentsModel;

/// How the samples of each line of an experiment are spread, in the same bins, one below the other.
class HistogramChart : public CellChart {
  Q_OBJECT
 public:
  explicit HistogramChart(QWidget* parent = nullptr) : CellChart(parent) {}

  void setContent(const ExperimentsModel& model, const Theme& theme);
  int heightFor(int width) const override;

 protected:
  std::vector<Cell> layOut(const QRectF& area) const override;
  void draw(QPainter& painter, const QRectF& area) const override;

 private:
  QRectF partAt(const QRectF& area, std::size_t part) const;
  /// The column of a bin, as high as its part; bin 0 is that of zeros where there is one.
  QRectF binAt(const QRectF& part, std::size_t bin) const;
  std::size_t bins() const;
  std::size_t countOf(const experiment::Histogram& part, std::size_t bin) const;
  double highest() const;

  experiment::Histograms m_histograms;
  QString m_valueName;
  std::optional<Theme> m_drawn;
};

}  // namespace spanscope::ui
