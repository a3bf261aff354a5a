// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/export/target_remarks.h"
#include "ui/theme/theme.h"

#include <QStyledItemDelegate>

namespace spanscope::ui {

/// The word for an effect: "Refused", "Differs", "Note".
QString effectWord(exports::Effect effect);

/// Paints a remark: a shape and the word for its effect in front, the wrapped text beside them.
class RemarkDelegate : public QStyledItemDelegate {
  Q_OBJECT
 public:
  enum RemarkDataRole { EffectRole = Qt::UserRole, NodeRole };

  RemarkDelegate(const Theme& theme, QObject* parent) : QStyledItemDelegate(parent), m_theme(theme) {}

  void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override;
  QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override;

 private:
  Theme m_theme;
};

}  // namespace spanscope::ui
