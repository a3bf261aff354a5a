// SPDX-License-Identifier: GPL-3.0-or-later
// Shows who sees whom in the prompt of the shown request, and what of it this run computed.
#pragma once

#include "ui/views/common/drawn_parts.h"
#include "ui/views/common/run_view.h"
#include "ui/views/mask/mask_model.h"

#include <QPointer>

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
  /// The rows of the selected token or block: what it sees.
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
  std::optional<MaskRange> m_rows;     ///< selected
  std::optional<MaskRange> m_columns;  ///< that the sentence speaks of
  Selection m_selection;               ///< that was last moved into sight
  QString m_sentence;
  QString m_lastSummary;
  MaskArea* m_area;
  MaskLegend* m_legend;
  QLabel* m_words;
  QPointer<QComboBox> m_which;
};

}  // namespace spanscope::ui
