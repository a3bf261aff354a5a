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
/// Versions, and the device on which the engine computes. `device` is the engine's own text; empty: not known
/// yet.
std::vector<AboutFact> aboutFacts(const QString& device);

class AboutBox : public QDialog {
  Q_OBJECT
 public:
  AboutBox(const QString& device, const Theme& theme, QWidget* parent = nullptr);

  /// The text that Copy puts on the clipboard, for the report of a problem.
  QString text() const;

 private:
  std::vector<AboutFact> m_facts;
};

}  // namespace spanscope::ui
