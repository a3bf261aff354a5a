// SPDX-License-Identifier: GPL-3.0-or-later
// Shows the attention mask of the shown request, and the rows that this run computed.
#pragma once

#include "ui/theme/theme.h"
#include "ui/views/common/block_painter.h"
#include "ui/views/common/input_view.h"
#include "ui/views/mask/mask_model.h"
#include "ui/views/view.h"

#include <QPointer>
#include <QWidget>

#include <vector>

class QComboBox;
class QLabel;

namespace spanscope::ui {

class MaskArea;
class MaskLegend;

class MaskView : public RunView, public DrawnParts {
  Q_OBJECT
 public:
  explicit MaskView(QWidget* parent = nullptr);

  QString csv() const override;
  void paintTo(QPainter& painter, const QSize& size) override;

  const MaskModel& mask() const { return m_mask; }
  void setShown(MaskShown shown);
  /// The sentence below the mask.
  const QString& sentence() const { return m_sentence; }

  const QWidget& placesIn() const override;
  /// The rows of the selected token or block.
  std::vector<QRect> placesOf(const Selection& part) const override;
  void bringIntoSight(const Selection& part) override;

 protected:
  void refresh() override;
  QString emptyText() const override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  bool isLow() const;
  void showLegend();
  void selectRows(const MaskRange& rows);
  void showColumns(const std::optional<MaskRange>& columns);
  void showSentence();
  QString summary() const;

  MaskModel m_mask;
  MaskShown m_whichMask = MaskShown::ThisRun;
  std::optional<MaskRange> m_rows;     ///< the selected rows
  std::optional<MaskRange> m_columns;  ///< the columns that the sentence describes
  Selection m_selection;               ///< the last selection that the view scrolled to
  QString m_sentence;
  QString m_lastSummary;
  MaskArea* m_area;
  MaskLegend* m_legend;
  QLabel* m_words;
  QPointer<QComboBox> m_which;
};

/// Explains the patterns of a mask, and lists the limits that the mask does not show.
class MaskLegend : public QWidget {
  Q_OBJECT
 public:
  explicit MaskLegend(QWidget* parent = nullptr);

  /// `isBrief` shortens the words, for a low dock.
  void setContent(const MaskModel& model, MaskShown shown, const Theme& theme, bool isBrief = false);
  QSize sizeHint() const override { return {200, heightForWidth(std::max(width(), 200))}; }
  QSize minimumSizeHint() const override { return {0, 0}; }
  bool hasHeightForWidth() const override { return true; }
  int heightForWidth(int width) const override;
  void paint(QPainter& painter, const QRect& area) const;

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  enum class Sign { None, Seen, Reused, Unseen, OnlyFull, State };
  struct Sample {
    Sign sign = Sign::None;
    QString text;
    BlockRole state = BlockRole::Free;  ///< state of the rows, for Sign::State
    bool operator==(const Sample&) const = default;
  };
  void paintSign(QPainter& painter, const QRect& box, const Sample& sample) const;
  /// Lays out the samples, and paints them if `painter` is not null. Returns the height of the samples.
  int flow(QPainter* painter, const QRect& area) const;

  std::vector<Sample> m_samples;
  std::size_t m_hue = 0;
  BlockPainter m_painter;
};

}  // namespace spanscope::ui
