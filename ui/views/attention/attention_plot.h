// SPDX-License-Identifier: GPL-3.0-or-later
// The heat map: cells, mask, brackets and scale bar. The plot handles the mouse, and the keys that move
// the cursor and the map.
#pragma once

#include "ui/theme/theme.h"
#include "ui/views/attention/attention_marks.h"
#include "ui/views/attention/attention_model.h"
#include "ui/views/common/plot_library.h"

#include <QImage>
#include <QPoint>

#include <optional>
#include <vector>

namespace spanscope::ui {

/// A cell, given by row and column of the model.
struct AttentionCell {
  std::int32_t row = 0;
  std::int32_t column = 0;
  bool operator==(const AttentionCell&) const = default;
};

/// A name above the columns of a section, or of the answer.
struct ColumnName {
  QString whole;
  QString text;           ///< the shown part of `whole`; may be empty
  std::size_t part = 0;   ///< index in AttentionModel::parts
  bool isAnswer = false;  ///< names the columns of the answer
  QRectF columns;         ///< the visible columns, in pixels
  QRectF place;           ///< place of a text that is not upright, in pixels
};

class AttentionPlot : public QCustomPlot {
  Q_OBJECT
 public:
  explicit AttentionPlot(QWidget* parent = nullptr);

  void setContent(const AttentionModel& model, const Theme& theme, const AttentionMarks& marks,
                  AttentionScale scale = AttentionScale::Linear);
  AttentionScale scale() const { return m_scaleKind; }
  const AttentionModel& model() const { return m_model; }
  const Theme& theme() const { return m_theme; }
  const AttentionMarks& marks() const { return m_marks; }
  const QImage& image() const { return m_image; }
  const std::vector<AttentionRegion>& forbidden() const { return m_forbidden; }
  const std::vector<AttentionRegion>& outside() const { return m_outside; }
  const std::vector<AttentionRegion>& missing() const { return m_missing; }
  /// Shows the left fraction `done` (0 … 1) of the rows from `firstRow` on. Nothing: the map is at rest.
  void setGrowing(std::optional<int> firstRow, double done);
  /// The part of the map that setGrowing() hides, in pixels; null: none.
  QRectF ungrown() const;
  std::optional<AttentionCell> cursor() const { return m_cursor; }
  void setCursorCell(std::optional<AttentionCell> cell);

  void fit();
  /// Makes room for names and scale in a plot of this size.
  void layOut(const QSize& size);
  /// Zooms in on the columns of a segment until single cells are visible.
  void showSegment(std::uint32_t segment);
  /// Scrolls a zoomed map until these cells (columns across, rows down) are visible. If they do not fit, some
  /// cells stay hidden.
  void reveal(const QRectF& cells);
  /// Whether the names of columns are upright, because they do not fit side by side.
  bool hasUprightNames() const { return m_upright; }
  /// The names above the visible columns, from left to right.
  std::vector<ColumnName> columnNames() const;
  /// The room for rows in a plot of this size, in pixels.
  int rowsHeight(const QSize& size) const;
  /// Zooms around a place in the widget.
  void zoom(double factor, const QPointF& place);
  std::optional<AttentionCell> cellAt(const QPointF& place) const;
  /// The section (index in AttentionModel::parts) whose name is at a place.
  std::optional<std::size_t> nameAt(const QPointF& place) const;
  QRectF cellRect(const AttentionRegion& region) const;  ///< pixels
  /// The pixels of a range of columns and rows. The range may begin and end within cells.
  QRectF stretchRect(double firstRow, double rows, double firstColumn, double columns) const;

 Q_SIGNALS:
  void cellHovered(int row, int column);  ///< −1: none
  void cellClicked(int row, int column);
  void cellOpened(int row, int column);  ///< double click or Return
  void partClicked(int part);  ///< a click on the name of the section, above the columns or beside the rows
  void closed();               ///< Escape
  void resized();

 protected:
  void resizeEvent(QResizeEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  void leaveEvent(QEvent* event) override;
  void wheelEvent(QWheelEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void focusInEvent(QFocusEvent* event) override;
  void focusOutEvent(QFocusEvent* event) override;

 private:
  void buildImage();
  void layOutScale();
  int leftMargin(int width) const;
  struct NamesAbove {
    bool upright = false;
    int height = 0;
  };
  NamesAbove namesAbove(const QSize& size, int left) const;
  void setRanges(QCPRange columns, QCPRange rows);

  AttentionModel m_model;
  Theme m_theme;
  AttentionMarks m_marks;
  QImage m_image;  ///< one pixel a cell
  std::vector<AttentionRegion> m_forbidden;
  std::vector<AttentionRegion> m_outside;
  std::vector<AttentionRegion> m_missing;
  AttentionShades m_shades;
  AttentionScale m_scaleKind = AttentionScale::Linear;
  bool m_upright = false;
  std::optional<AttentionCell> m_cursor;
  std::optional<int> m_growsFrom;
  double m_grown = 1;
  QCPColorScale* m_scale = nullptr;
  std::optional<QPointF> m_pressed;
  bool m_dragged = false;
  QCPRange m_columnsAtPress;
  QCPRange m_rowsAtPress;
};

}  // namespace spanscope::ui
