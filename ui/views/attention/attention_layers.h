// SPDX-License-Identifier: GPL-3.0-or-later
// The two layers of an attention plot: the cells within the axes, and the brackets beside the axes.
#pragma once

#include "ui/theme/theme.h"
#include "ui/views/attention/attention_model.h"
#include "ui/views/common/plot_library.h"

#include <QWidget>

namespace spanscope::ui {

class AttentionPlot;

class AttentionCells : public QCPAbstractPlottable {
  Q_OBJECT
 public:
  AttentionCells(AttentionPlot& plot, QCPAxis* columns, QCPAxis* rows);

  double selectTest(const QPointF& place, bool onlySelectable, QVariant* details) const override;
  QCPRange getKeyRange(bool& found, QCP::SignDomain domain) const override;
  QCPRange getValueRange(bool& found, QCP::SignDomain domain, const QCPRange& keys) const override;

 protected:
  void draw(QCPPainter* painter) override;
  void drawLegendIcon(QCPPainter* painter, const QRectF& rect) const override;

 private:
  void drawCells(QCPPainter* painter) const;
  void drawMask(QCPPainter* painter) const;
  void drawRules(QCPPainter* painter) const;
  void drawMarks(QCPPainter* painter) const;

  AttentionPlot& m_plot;
};

/// Coloured brackets with the names of the sections, on the left and above.
class AttentionBrackets : public QCPLayerable {
  Q_OBJECT
 public:
  explicit AttentionBrackets(AttentionPlot& plot);

 protected:
  void applyDefaultAntialiasingHint(QCPPainter* painter) const override;
  void draw(QCPPainter* painter) override;

 private:
  /// The ink of the answer's own tokens. These tokens do not belong to the prompt, so they have none of the
  /// prompt's hues.
  QColor answerInk() const;
  void drawColumnNames(QCPPainter* painter, const QRectF& inner, const QFont& plain) const;
  void drawRowNames(QCPPainter* painter, const QRectF& inner, const QFont& plain) const;
  void drawTokenNames(QCPPainter* painter, const QRectF& inner) const;
  void drawSink(QCPPainter* painter, const QRectF& inner) const;

  AttentionPlot& m_plot;
};

/// Marks the column with the first key of the view: paints a triangle into the rectangle.
void paintSinkMark(QPainter& painter, const QRectF& area, const QColor& ink);

/// The hatch of cells that the tree forbids, and the hatch of cells that were not recorded.
QBrush forbiddenBrush(const Theme& theme);
QBrush outsideBrush(const Theme& theme);
QBrush missingBrush(const Theme& theme);

/// A legend for the hatches and pale rows of the map.
class AttentionLegend : public QWidget {
  Q_OBJECT
 public:
  using QWidget::QWidget;

  void setContent(const AttentionModel& model, const Theme& theme,
                  AttentionScale scale = AttentionScale::Linear);
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override;
  bool hasHeightForWidth() const override { return true; }
  int heightForWidth(int width) const override;
  void paint(QPainter& painter, const QRect& area) const;

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  enum class Hatch { None, Forbidden, Outside, Missing, Pale, Sink };
  struct Sample {
    Hatch hatch = Hatch::None;
    QString text;
    bool operator==(const Sample&) const = default;
  };
  /// Lays out the samples, and paints them if `painter` is not null. Returns the height of the samples.
  int flow(QPainter* painter, const QRect& area) const;

  std::vector<Sample> m_samples;
  Theme m_theme;
};

}  // namespace spanscope::ui
