// SPDX-License-Identifier: GPL-3.0-or-later
// The small controls in the title of the attention view: layer, head, and the menu that chooses what is
// shown.
#pragma once

#include "ui/views/attention/attention_model.h"

#include <QObject>
#include <QPointer>

#include <optional>

class QAction;
class QComboBox;
class QHBoxLayout;
class QMenu;
class QToolButton;

namespace spanscope::ui {

class AttentionControls : public QObject {
  Q_OBJECT
 public:
  /// Puts its widgets into `row`. They may be destroyed before this object.
  AttentionControls(QHBoxLayout& row, QObject* parent);

  /// Offers the layers and heads of the model and shows the given ones as chosen.
  void showChoice(const AttentionModel& model, const std::optional<std::int32_t>& layer,
                  const std::optional<std::int32_t>& head);
  void showHeads(bool shows);

 Q_SIGNALS:
  void choiceMade(const std::optional<std::int32_t>& layer, const std::optional<std::int32_t>& head);
  void headsToggled(bool shows);
  void ownToggled(bool shows);   ///< show question, reply and other text
  void sinkToggled(bool shows);  ///< show first tokens
  void rowsChosen(spanscope::ui::AttentionRowSet rows);
  void scaleChosen(spanscope::ui::AttentionScale scale);

 private:
  void addChoosers(QHBoxLayout& row);
  void addMenu(QHBoxLayout& row);
  void addRowsAndScales(QMenu& menu);

  QPointer<QComboBox> m_layer;
  QPointer<QComboBox> m_head;
  QPointer<QToolButton> m_show;
  QPointer<QAction> m_headsAction;
  bool m_filling = false;
};

}  // namespace spanscope::ui
