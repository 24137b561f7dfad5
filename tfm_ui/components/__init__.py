"""Client-side pieces (Streamlit components v2); their JavaScript and CSS lie in assets/."""
