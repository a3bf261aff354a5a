// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/words/policy_words.h"

#include <QCoreApplication>

namespace spanscope::ui {

QString policyWord(const char* text) {
  return QCoreApplication::translate("Policies", text);
}

}  // namespace spanscope::ui
