// SPDX-License-Identifier: GPL-3.0-or-later
// A box in which a person chooses which runs a view of several runs shows.
#pragma once

#include "ui/session/run_list.h"

#include <QComboBox>

class QHBoxLayout;

namespace spanscope::ui {

class ScopeBox : public QComboBox {
  Q_OBJECT
 public:
  /// Adds itself to `row`, the title controls of a view.
  explicit ScopeBox(QHBoxLayout* row);

  RunScope scope() const;
  /// Sets how many runs the scope Document leaves out. The box is hidden if there is nothing to choose.
  void setOthers(std::size_t others);

 Q_SIGNALS:
  void changed();
};

}  // namespace spanscope::ui
