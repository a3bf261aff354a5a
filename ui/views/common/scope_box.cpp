// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/common/scope_box.h"

#include <QHBoxLayout>

namespace spanscope::ui {

ScopeBox::ScopeBox(QHBoxLayout* row) : QComboBox(row->parentWidget()) {
  setAccessibleName(tr("Runs to show"));
  setToolTip(tr("Show runs of this document, or of all documents"));
  addItem(tr("This document"), static_cast<int>(RunScope::Document));
  addItem(tr("All documents"), static_cast<int>(RunScope::All));
  setSizeAdjustPolicy(QComboBox::AdjustToContents);
  row->addWidget(this);
  connect(this, &QComboBox::currentIndexChanged, this, &ScopeBox::changed);
}

RunScope ScopeBox::scope() const {
  return static_cast<RunScope>(currentData().toInt());
}

void ScopeBox::setOthers(std::size_t others) {
  // A choice of all documents must stay visible, so that it can be undone.
  setVisible(others > 0 || scope() == RunScope::All);
}

}  // namespace spanscope::ui
