// SPDX-License-Identifier: GPL-3.0-or-later
// A folder in memory for what reads its files by their paths.
#pragma once

#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace spanscope::model::test {

class FuzzScratch {
 public:
  FuzzScratch() {
    std::error_code error;
    const std::filesystem::path memory = "/dev/shm";
    const auto root =
        std::filesystem::is_directory(memory, error) ? memory : std::filesystem::temp_directory_path();
    m_folder = root / ("spanscope-fuzz-" + std::to_string(::getpid()));
    std::filesystem::create_directories(m_folder);
  }
  ~FuzzScratch() {
    std::error_code error;
    std::filesystem::remove_all(m_folder, error);
  }
  FuzzScratch(const FuzzScratch&) = delete;
  FuzzScratch& operator=(const FuzzScratch&) = delete;

  const std::filesystem::path& folder() const { return m_folder; }
  void write(const std::string& name, const std::uint8_t* data, std::size_t size) const {
    std::ofstream file(m_folder / name, std::ios::binary | std::ios::trunc);
    file.write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
  }

 private:
  std::filesystem::path m_folder;
};

inline void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace spanscope::model::test
