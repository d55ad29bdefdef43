//! Plain tables: columns as wide as their widest cell.

/// Lays out rows, the first of which is the header. Columns in `right` are right-aligned.
pub(crate) fn render(rows: &[Vec<String>], right: &[usize]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let cell = |(column, cell): (usize, &String)| {
        let wide = widths[column];
        if right.contains(&column) {
            format!("{cell:>wide$}")
        } else {
            format!("{cell:<wide$}")
        }
    };
    rows.iter()
        .map(|row| {
            row.iter()
                .enumerate()
                .map(cell)
                .collect::<Vec<_>>()
                .join("  ")
        })
        .map(|line| line.trim_end().to_owned() + "\n")
        .collect()
}

/// A row of a table.
pub(crate) fn row<const N: usize>(cells: [&str; N]) -> Vec<String> {
    cells.map(str::to_owned).to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let rows = [row(["name", "value", "unit"]), row(["a.b.c", "7", "calls"])];
        assert_eq!(
            render(&rows, &[1]),
            "name   value  unit\na.b.c      7  calls\n"
        );
    }
}
