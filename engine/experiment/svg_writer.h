// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace spanscope::experiment {

struct SvgPoint {
  double x = 0;
  double y = 0;
};

/// The look of a line: a colour ("#0072b2"), a width, and a dash pattern ("6 3"; empty: solid).
struct Stroke {
  std::string color;
  double width = 1;
  std::string dash{};
};

enum class TextAnchor { Start, Middle, End };

struct TextStyle {
  std::string color = "#1f2430";
  double size = 12;
  TextAnchor anchor = TextAnchor::Start;
  bool bold = false;
  double turned = 0;  ///< degrees, clockwise around its own place
};

/// A picture as SVG 1.1 text. All lengths are pixels; y grows downwards. Texts are escaped.
class SvgWriter {
 public:
  /// The background is white, so that the picture is readable on any page. Screen readers read `title`.
  SvgWriter(double width, double height, std::string_view title);

  void rectangle(SvgPoint topLeft, double width, double height, std::string_view fill);
  void line(SvgPoint from, SvgPoint to, const Stroke& stroke);
  void polyline(const std::vector<SvgPoint>& points, const Stroke& stroke);
  void polygon(const std::vector<SvgPoint>& points, std::string_view fill);
  void circle(SvgPoint center, double radius, std::string_view fill);
  /// The base line of the text begins at `at`, has its middle there, or ends there.
  void text(SvgPoint at, std::string_view text, const TextStyle& style);

  /// The whole picture. It ends with a newline.
  std::string finish() &&;

 private:
  std::string m_text;
};

}  // namespace spanscope::experiment
