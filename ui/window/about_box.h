// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/theme/theme.h"

#include <QDialog>
#include <QString>

#include <vector>

namespace spanscope::ui {

struct AboutFact {
  QString name;
  QString value;
  bool operator==(const AboutFact&) const = default;
};
/// Versions, and the device on which the engine computes. `device` is the text from the engine. Empty: not
/// known yet.
std::vector<AboutFact> aboutFacts(const QString& device);

class AboutBox : public QDialog {
  Q_OBJECT
 public:
  AboutBox(const QString& device, const Theme& theme, QWidget* parent = nullptr);

  /// The text that the copy button puts on the clipboard, for a problem report.
  QString text() const;

 private:
  std::vector<AboutFact> m_facts;
};

}  // namespace spanscope::ui
