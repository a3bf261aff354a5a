// SPDX-License-Identifier: GPL-3.0-or-later
// Paints an attention mask. Rows are query vectors, and columns are keys. The painting time grows with the
// number of prompt sections. The painting time grows with the number of tokens only if cells are large enough
// to be drawn one by one.
#pragma once

#include "ui/views/common/block_painter.h"
#include "ui/views/common/painted_scroll.h"
#include "ui/views/mask/mask_model.h"

#include <functional>
#include <optional>
#include <utility>

namespace spanscope::ui {

/// Positions and sizes of the cells of a mask, in pixels of the content.
struct MaskLayout {
  int left = 0;  ///< of the first column; names and states of rows are left of it
  int top = 0;
  double across = 1;  ///< width of a column
  double down = 1;    ///< height of a row

  /// Whether cells are too small for single tokens, so that the pointer selects blocks instead.
  bool isByBlock() const { return down < 3 || across < 3; }
  /// Whether cells are large enough for texts of tokens beside the cells.
  bool hasTexts() const { return down >= 13 && across >= 13; }
  double x(std::int32_t column) const { return left + across * column; }
  double y(std::int32_t row) const { return top + down * row; }
};

class MaskArea : public ZoomedScroll {
  Q_OBJECT
 public:
  explicit MaskArea(QWidget* parent = nullptr);

  /// `model` must stay valid until the next call or the end of the area. `changed`: the model has changed.
  /// `rows`: the selected rows.
  void showMask(const MaskModel* model, bool changed, MaskShown shown, std::optional<MaskRange> rows,
                const Theme& theme);
  /// Marks the columns that the sentence below the mask describes.
  void showColumns(std::optional<MaskRange> columns);
  void setTips(std::function<QString(const MaskRange& rows, const MaskRange& columns)> tips) {
    m_tips = std::move(tips);
  }
  void reveal(const MaskRange& rows);
  const MaskLayout& maskLayout() const { return m_layout; }
  /// A token, or its block if isByBlock().
  MaskRange stretchAt(std::int32_t token) const;

  void paintContent(QPainter& painter, const QRect& visible) override;
  QSize contentSize() const override;
  /// Paints the whole mask in the largest size that fits into an area.
  void paintFitted(QPainter& painter, const QRect& area);

 Q_SIGNALS:
  void rowsChosen(const spanscope::ui::MaskRange& rows);
  void columnsChosen(const spanscope::ui::MaskRange& columns);

 protected:
  void pressed(const QPoint& place) override;
  QString tipAt(const QPoint& place) const override;
  void zoom(int steps) override;
  void zoomToFit() override;
  void keyPressEvent(QKeyEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  MaskLayout fitting(const QSize& size) const;
  void layOut();
  int namesWidth(bool withTexts) const;
  std::optional<std::int32_t> rowAt(int y) const;
  std::optional<std::int32_t> columnAt(int x) const;
  void scrollToRows(const MaskRange& rows);
  /// The name of the section with this token; empty: there is none.
  QString nameAt(std::optional<std::int32_t> token) const;
  /// The rows or columns that are visible between two pixels.
  MaskRange between(double begin, double end, double first, double pitch) const;

  void paintBands(QPainter& painter, const MaskRange& rows, const MaskRange& columns) const;
  void paintBand(QPainter& painter, const MaskBand& band, const MaskRange& columns) const;
  void paintBefore(QPainter& painter, const MaskBand& band, const MaskRange& columns) const;
  void paintMixed(QPainter& painter, const MaskRange& block, const MaskRange& columns) const;
  void paintSeen(QPainter& painter, const MaskBand& band, const MaskRange& rows, const MaskRange& columns,
                 bool isInked = false) const;
  void paintUnseen(QPainter& painter, const MaskBand& band, const MaskRange& columns) const;
  void paintGrid(QPainter& painter, const MaskRange& rows, const MaskRange& columns) const;
  void paintMarks(QPainter& painter) const;
  void paintNames(QPainter& painter, const QRect& seen) const;
  void paintTexts(QPainter& painter, const QRect& seen, const MaskRange& rows,
                  const MaskRange& columns) const;

  const MaskModel* m_model = nullptr;
  MaskLayout m_layout;
  MaskShown m_shown = MaskShown::ThisRun;
  std::optional<int> m_pitch;  ///< pixels of a cell; nothing: the whole mask fits
  std::optional<MaskRange> m_rows;
  std::optional<MaskRange> m_columns;
  BlockPainter m_painter;
  std::function<QString(const MaskRange&, const MaskRange&)> m_tips;
};

/// The pattern of masked cells.
QBrush unseenBrush(const Theme& theme);
/// The lines over cells of rows that were not computed in this run.
QBrush reusedBrush(const Theme& theme);

}  // namespace spanscope::ui
