// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/words/experiment_words.h"

#include <QCoreApplication>

namespace spanscope::ui {

QString experimentWord(const char* text) {
  return QCoreApplication::translate("Experiments", text);
}

}  // namespace spanscope::ui
