// SPDX-License-Identifier: GPL-3.0-or-later
// A combo box for choosing the runs that a view shows: the runs of this document, or of all documents.
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
  /// Sets the number of runs of other documents. If the number is 0, the box is hidden.
  void setOthers(std::size_t others);

 Q_SIGNALS:
  void changed();
};

}  // namespace spanscope::ui
