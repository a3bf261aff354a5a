// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/words/miss_words.h"

#include <QCoreApplication>

namespace spanscope::ui {

QString missWord(const char* text) {
  return *text == '\0' ? QString() : QCoreApplication::translate("Misses", text);
}

}  // namespace spanscope::ui
