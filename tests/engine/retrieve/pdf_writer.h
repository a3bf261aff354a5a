// SPDX-License-Identifier: GPL-3.0-or-later
// Writes a PDF of plain text with one line on each page, and with no more than the format requires.
#pragma once

#include <cstddef>
#include <cstdio>
#include <string>
#include <vector>

namespace spanscope::retrieve::test {

inline std::string pdfOf(const std::vector<std::string>& pages) {
  std::vector<std::string> objects = {"<< /Type /Catalog /Pages 2 0 R >>", "",
                                      "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"};
  std::string kids;
  for (const std::string& line : pages) {
    const std::string stream = "BT /F1 12 Tf 40 700 Td (" + line + ") Tj ET";
    kids += std::to_string(objects.size() + 1) + " 0 R ";
    objects.push_back("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents " +
                      std::to_string(objects.size() + 2) + " 0 R /Resources << /Font << /F1 3 0 R >> >> >>");
    objects.push_back("<< /Length " + std::to_string(stream.size()) + " >>\nstream\n" + stream +
                      "\nendstream");
  }
  objects[1] = "<< /Type /Pages /Count " + std::to_string(pages.size()) + " /Kids [" + kids + "] >>";

  std::string pdf = "%PDF-1.4\n";
  std::string table = "xref\n0 " + std::to_string(objects.size() + 1) + "\n0000000000 65535 f \n";
  for (std::size_t i = 0; i < objects.size(); ++i) {
    char entry[32];
    std::snprintf(entry, sizeof entry, "%010zu 00000 n \n", pdf.size());
    table += entry;
    pdf += std::to_string(i + 1) + " 0 obj\n" + objects[i] + "\nendobj\n";
  }
  const std::string tableAt = std::to_string(pdf.size());
  return pdf + table + "trailer\n<< /Size " + std::to_string(objects.size() + 1) +
         " /Root 1 0 R >>\nstartxref\n" + tableAt + "\n%%EOF\n";
}

}  // namespace spanscope::retrieve::test
