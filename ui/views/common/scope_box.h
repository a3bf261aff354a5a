// SPDX-License-Identifier: GPL-3.0-or-later
// Chooses whose runs a view of several runs shows.
#pragma once

#include "ui/session/run_list.h"

#include <QComboBox>

class QHBoxLayout;

namespace spanscope::ui {

class ScopeBox : public QComboBox {
  Q_OBJECT
 public:
  /// Goes into a view's row of title controls.
  explicit ScopeBox(QHBoxLayout* row);

  RunScope scope() const;
  void setScope(RunScope scope);
  /// How many runs are left out; it is not shown where there is nothing to choose.
  void setOthers(std::size_t others);

 Q_SIGNALS:
  void changed();
};

}  // namespace spanscope::ui
