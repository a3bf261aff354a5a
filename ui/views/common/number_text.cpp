// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/common/number_text.h"

#include "engine/metrics/format.h"

#include <QChar>

#include <algorithm>

namespace spanscope::ui {

QString durationText(double seconds) {
  return QString::fromStdString(metrics::durationText(seconds));
}

QString countText(double value) {
  return QString::fromStdString(metrics::countText(value));
}

QString changeText(double now, double before) {
  return QString::fromStdString(metrics::changeText(now, before));
}

QString csvNumber(double value) {
  return QString::fromStdString(metrics::exactNumber(value));
}

QString csvLine(const QStringList& fields) {
  QStringList written;
  for (const QString& field : fields) {
    const bool quoted = std::any_of(field.begin(), field.end(), [](QChar c) {
      return c == QLatin1Char(',') || c == QLatin1Char('"') || c == QLatin1Char('\n') ||
             c == QLatin1Char('\r');
    });
    QString text = field;
    if (quoted) {
      text.replace(QLatin1Char('"'), QStringLiteral("\"\""));
      text = QLatin1Char('"') + text + QLatin1Char('"');
    }
    written << text;
  }
  return written.join(QLatin1Char(',')) + QLatin1Char('\n');
}

}  // namespace spanscope::ui
